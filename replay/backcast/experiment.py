"""The experiment of the back-cast: all services over both data centres' networks, at every window."""

from collections.abc import Mapping

from replay.backcast.calibration import PAGES, Calibrated
from replay.backcast.measure import Rows, measure
from replay.backcast.published import BASE, CANDIDATES, DATA_CENTERS, SERVICES, DataCenter, Service, mix
from replay.backcast.services import pages
from replay.lab.guest_process import Lab
from replay.runs.cells import CellRow
from replay.runs.guests import GuestProgress

SEEDS = 3
FIRST_IDS: dict[Service, int] = {"search": 1, "maps": 101, "photos": 201}

COUNTED = (
    "payload_bytes",
    "bytes_retransmitted",
    "segments_sent",
    "segments_retransmitted",
    "segments_dropped",
    "segments_spurious",
    "responses",
    "responses_own_retransmitted",
    "connections",
    "connections_initial_loss",
    "bottleneck_drops",
)

Experiment = Mapping[tuple[DataCenter, Service], Rows]


def count_loads(*, seeds: int = SEEDS) -> int:
    return 64 * len(DATA_CENTERS) * len(CANDIDATES) * seeds * sum(PAGES.values())


def run_experiment(
    lab: Lab, calibrated: Calibrated, *, seeds: int = SEEDS, progress: GuestProgress | None = None
) -> Experiment:
    return {
        (center, service): measure(
            lab,
            center,
            pages(service, calibrated.shapes[service], PAGES[service], first_id=FIRST_IDS[service]),
            calibrated.inputs,
            windows=CANDIDATES,
            seeds=seeds,
            progress=progress,
        )
        for center in DATA_CENTERS
        for service in SERVICES
    }


def production(experiment: Experiment, backend_ms: Mapping[DataCenter, float]) -> Rows:
    """Return the experiment as pages of production: one load of each service, each counted by its share. Each
    has a search of its own; the pages of Maps and Photos take turns.

    A service counts so that its share of all segments at IW 3 is that of production (`mix`): each share of a
    page, as of its responses with a retransmission, is then the share in production. The page's time is that
    of search with its back end, since the paper's latencies (Table 3) are those of web search; a session of
    Maps or Photos has none there.
    """
    shares = mix()
    scales = {
        (center, service): shares[service] / _mean_segments(experiment[center, service])
        for center, service in experiment
    }
    rows: Rows = []
    for center in DATA_CENTERS:
        loads = {service: _by_load(experiment[center, service], service) for service in SERVICES}
        for (number, profile, iw, seed), search in loads["search"].items():
            services = {
                service: loads[service].get((number % PAGES[service], profile, iw, seed))
                for service in SERVICES
            }
            rows.append(
                {
                    **search,
                    **{name: _mixed(services, name, center, scales) for name in COUNTED},
                    "page_ms": None if search["page_ms"] is None else search["page_ms"] + backend_ms[center],
                }
            )
    return rows


def _mean_segments(rows: Rows) -> float:
    sent = [row["segments_sent"] for row in rows if row["iw"] == BASE and row["segments_sent"] is not None]
    return float(sum(sent) / len(sent))


def _by_load(rows: Rows, service: Service) -> dict[tuple[int, str, int, int], CellRow]:
    return {
        (row["visit_id"] - FIRST_IDS[service], row["profile"], row["iw"], row["seed"]): row for row in rows
    }


def _mixed(
    services: Mapping[Service, CellRow | None],
    name: str,
    center: DataCenter,
    scales: Mapping[tuple[DataCenter, Service], float],
) -> float | None:
    """Return the weighted sum of a count over the services; None if one's is unknown."""
    whole = 0.0
    for service, row in services.items():
        if row is None or row[name] is None:
            return None
        whole += row[name] * scales[center, service]
    return whole
