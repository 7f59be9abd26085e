"""The experiment of the back-cast: all services over both data centers' networks, at IW 3 and 10."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replay.backcast.calibration import Calibrated
from replay.backcast.measure import Rows, measure
from replay.backcast.published import BASE, DATA_CENTERS, EXPERIMENT, SERVICES, DataCenter, Service, mix
from replay.backcast.services import pages
from replay.lab.guest_process import Lab
from replay.runs.guests import Progress

PAGES: dict[Service, int] = {"search": 24, "maps": 6, "photos": 6}
SEEDS = 3
FIRST_IDS: dict[Service, int] = {"search": 1, "maps": 101, "photos": 201}

COUNTED = (
    "payload_bytes",
    "bytes_retransmitted",
    "segments_sent",
    "segments_retransmitted",
    "responses",
    "responses_retransmitted",
    "connections",
    "connections_initial_loss",
    "bottleneck_drops",
)
"""Columns that count a page's traffic."""

Experiment = Mapping[tuple[DataCenter, Service], Rows]


def planned_loads(*, seeds: int = SEEDS) -> int:
    """Number of loads of an experiment."""
    return 64 * len(DATA_CENTERS) * 2 * seeds * sum(PAGES.values())


def run_experiment(
    lab: Lab, calibrated: Calibrated, *, seeds: int = SEEDS, progress: Progress | None = None
) -> Experiment:
    """Load every service at both windows."""
    return {
        (center, service): measure(
            lab,
            center,
            pages(service, calibrated.shapes[service], PAGES[service], first_id=FIRST_IDS[service]),
            calibrated.inputs,
            windows=[BASE, EXPERIMENT],
            seeds=seeds,
            progress=progress,
        )
        for center in DATA_CENTERS
        for service in SERVICES
    }


def production(found: Experiment, backend_ms: Mapping[DataCenter, float]) -> list[dict[str, Any]]:
    """All rows as the rule takes them: each service's traffic by its share in production, and the time of a page that of search.

    The paper's latencies (Table 3) are those of web search, with its back end; a session of Maps or Photos has none there.
    """
    shares = mix()
    scales = {
        (center, service): shares[service]
        / sum(row["segments_sent"] or 0 for row in found[center, service] if row["iw"] == BASE)
        for center, service in found
    }
    return [
        {
            **row,
            **{
                name: None if row[name] is None else row[name] * scales[center, service] * 1e6
                for name in COUNTED
            },
            "page_ms": row["page_ms"] + backend_ms[center]
            if service == "search" and row["page_ms"] is not None
            else None,
        }
        for (center, service), rows in found.items()
        for row in rows
    ]
