"""`ietf77`: latency quantiles and retransmissions of one connection and of a dozen, at IW 3 and 10."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from releases.slow_start import MSS
from replay.lab.guest_process import Lab, usable_cpus
from replay.networks.copula import RHOS
from replay.networks.profiles import Profile
from replay.published.dukkipati_clients import PublishedClient, draw
from replay.published.reproduction import (
    FACTOR,
    ComparedValue,
    Criterion,
    FigurePlace,
    Reproduction,
    at_least,
    at_most,
    beyond_factor,
    make_reproduction,
    read_oracle,
)
from replay.recipes.page_recipe import Object, Origin, Recipe
from replay.runs.cells import Cell
from replay.runs.conditions import PLAIN
from replay.runs.policy import Policy
from replay.runs.races import Flow, Race, race
from replay.runs.run import replay

ORACLE = read_oracle("ietf77")
APPLICATIONS = tuple(itertools.product(RHOS, ("search", "maps")))

CLIENTS = 150
LONGEST_RTT_MS = 900.0
"""Longest RTT: beyond it, Linux's first timer of one second fires before the answer."""

WINDOWS = (3, 10)
HOSTS, CONNECTIONS, TILES, TILE_BYTES = 2, 6, 24, 14_000
"""Maps: two hosts by six connections, tiles of ten segments. Our choice, except for the dozen connections."""

LEAST_UP_BPS = 128_000
CONGESTION_CONTROL = "cubic"
SHORT_BYTES, SHORT_FLOWS, COMPETING_FLOWS = 12_000, 8, 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """The outcome of an application at one data centre and window."""

    milliseconds: tuple[float, ...]
    retransmitted_pct: float
    refused: int


Results: TypeAlias = "dict[tuple[str, str, int], Measured]"


def run(lab: Lab) -> Reproduction:
    results = {
        (center, name, iw): outcome
        for center, name in APPLICATIONS
        for iw, outcome in both_windows(lab, center, name, CLIENTS).items()
    }
    return make_reproduction(
        "ietf77",
        globals(),
        source=ORACLE["source"],
        rows=(*table_rows(results), *competing_rows(lab)),
        criteria=tuple(criteria(results)),
    )


def criteria(results: Results) -> Iterator[Criterion]:
    """Yield the signs and orders of the talk's gains and retransmissions."""
    worse = sum(
        gain(results, center, "search", share) <= 0
        for center in RHOS
        for share in ORACLE["search_ms"][center]["quantiles"]
    )
    yield at_most("search: quantiles p10 to p99 that IW 10 does not improve", worse, 0)
    three, ten = ({key: results[*key, iw].retransmitted_pct for key in APPLICATIONS} for iw in WINDOWS)
    rises = {key: ten[key] - three[key] for key in APPLICATIONS}
    differences = {
        **{
            f"{center}: rise of retransmissions from IW 3 to 10, {name}, pp": rise
            for (center, name), rise in rises.items()
        },
        **{
            f"{center}: rise for Maps, less the rise for search, pp": rises[center, "maps"]
            - rises[center, "search"]
            for center in RHOS
        },
        "Maps: rise at SlowDC, less the rise at AvgDC, pp": rises["SlowDC", "maps"] - rises["AvgDC", "maps"],
    }
    for what, difference in differences.items():
        yield at_least(what, difference, 0.001)
    for center, name in APPLICATIONS:
        pairs = [
            (gain_ms(results, center, name, share), base - exp)
            for share, exp, base in published_latencies(center, name)
        ]
        yield at_most(
            f"{center}, {name}: gains in ms beyond a factor of {FACTOR:g}, of {len(pairs)} quantiles",
            beyond_factor(pairs),
            0,
        )
    published_rises = {
        (center, name): after - before
        for center, by_name in ORACLE["retransmission_pct"].items()
        for name, (after, before) in by_name.items()
    }
    yield at_most(
        f"rises of retransmissions beyond a factor of {FACTOR:g}, of {len(rises)}",
        beyond_factor((rises[key], published_rises[key]) for key in APPLICATIONS),
        0,
    )
    p50, p99 = (gain(results, "SlowDC", "maps", share) for share in (50, 99))
    yield at_most("Maps at SlowDC: gain at p99, less the gain at p50, points", p99 - p50, 0)


def both_windows(lab: Lab, center: str, name: str, count: int) -> dict[int, Measured]:
    clients = [client for client in draw(2 * count, data_center=center) if client.rtt_ms <= LONGEST_RTT_MS][
        :count
    ]
    cells = [
        Cell(
            recipe=recipe(name, client, number),
            profile=network(center, client, number),
            policy=Policy(iw),
            seed=1,
            conditions=PLAIN,
        )
        for number, client in enumerate(clients)
        for iw in WINDOWS
    ]
    rows = replay(lab, cells, guests=len(usable_cpus())).rows
    rows_done = {(row["visit_id"], row["iw"]): row for row in rows if row["state"] == "done"}
    whole = [number for number in range(len(clients)) if all((number, iw) in rows_done for iw in WINDOWS)]
    return {
        iw: Measured(
            milliseconds=tuple(rows_done[number, iw]["page_ms"] - clients[number].rtt_ms for number in whole),
            retransmitted_pct=100
            * sum(rows_done[number, iw]["segments_retransmitted"] for number in whole)
            / sum(rows_done[number, iw]["segments_sent"] for number in whole),
            refused=len(clients) - len(whole),
        )
        for iw in WINDOWS
    }


def recipe(name: str, client: PublishedClient, number: int) -> Recipe:
    """Return a client's page: all responses at once, over HTTP/1.1 without TLS."""
    maps = name == "maps"
    sizes = [TILE_BYTES] * TILES if maps else [client.size_bytes]
    hosts = HOSTS if maps else 1
    return Recipe(
        page=f"{name}-{number}",
        visit_id=number,
        origins=(Origin(host="a.test", port=80, h2=False, tls_flight_bytes=0, tls_after_bytes=0),) * hosts,
        objects=tuple(
            Object(response_id=at + 1, origin=at % hosts, parent=-1, response_bytes=size, is_document=not at)
            for at, size in enumerate(sizes)
        ),
        left_out=0,
    )


def network(center: str, client: PublishedClient, number: int) -> Profile:
    return client.network(f"{center}-{number}", max(client.down_bps // 4, LEAST_UP_BPS))


def published_latencies(center: str, name: str) -> Iterator[tuple[int, float, float]]:
    """Yield each printed quantile with the latency in ms at IW 10 and IW 3."""
    theirs = ORACLE[f"{name}_ms"][center]
    yield from zip(theirs["quantiles"], theirs["exp"], theirs["base"], strict=True)


def gain_ms(results: Results, center: str, name: str, share: int) -> float:
    base, exp = (np.percentile(results[center, name, iw].milliseconds, share) for iw in WINDOWS)
    return float(base - exp)


def gain(results: Results, center: str, name: str, share: int) -> float:
    base, exp = (np.percentile(results[center, name, iw].milliseconds, share) for iw in WINDOWS)
    return float(100 * (base - exp) / base)


def table_rows(results: Results) -> Iterator[ComparedValue]:
    for center, name in APPLICATIONS:
        for share, exp, base in published_latencies(center, name):
            yield ComparedValue(
                what=f"{center}, {name}: gain at p{share} in ms",
                unit="ms",
                published=base - exp,
                ours=gain_ms(results, center, name, share),
                place=FigurePlace(f"{name}: gain of IW 10 over 3 in ms, by quantile", center, f"p{share}"),
            )
            yield ComparedValue(
                what=f"{center}, {name}: gain at p{share}",
                unit="%",
                published=100 * (base - exp) / base,
                ours=gain(results, center, name, share),
                place=FigurePlace(f"{name}: gain of IW 10 over 3 by quantile", center, f"p{share}"),
            )
        for iw, published in zip((10, 3), ORACLE["retransmission_pct"][center][name], strict=True):
            yield ComparedValue(
                what=f"{center}, {name}: segments retransmitted at IW {iw}",
                unit="%",
                published=published,
                ours=results[center, name, iw].retransmitted_pct,
                place=FigurePlace(f"Segments retransmitted at IW {iw}", "share", f"{center}, {name}"),
            )
        refused = results[center, name, 3].refused
        yield ComparedValue(what=f"{center}, {name}: clients refused", unit="", ours=refused)
    window = HOSTS * CONNECTIONS * min(10, -(-TILE_BYTES // MSS))
    yield ComparedValue(
        what="Maps: segments in the first flights at IW 10", unit="", published=100, ours=window
    )


def competing_rows(lab: Lab) -> Sequence[ComparedValue]:
    """Return short flows at IW 3 beside either window, through the median client's queue."""
    where = network("AvgDC", PublishedClient(kbps=1200, rtt_ms=70, size_bytes=SHORT_BYTES), 0)

    def flow(iw: int, begins_s: float) -> Flow:
        return Flow(policy=Policy(iw), request_bytes=400, response_bytes=SHORT_BYTES, begins_s=begins_s)

    races = [
        Race(
            profile=where,
            flows=tuple(
                short_flow
                for at in range(SHORT_FLOWS)
                for short_flow in (*(flow(iw, 0.5 * at) for _ in range(COMPETING_FLOWS)), flow(3, 0.5 * at))
            ),
        )
        for iw in WINDOWS
    ]
    outcomes = race(lab, races, shaper="tbf", congestion_control=CONGESTION_CONTROL)
    means = [
        float(np.mean([flow.seconds for flow in outcome.flows[COMPETING_FLOWS :: COMPETING_FLOWS + 1]])) * 1e3
        for outcome in outcomes
    ]
    return [
        ComparedValue(
            what=f"a flow at IW 3 of {SHORT_BYTES:,} B among {COMPETING_FLOWS} at IW {iw}, mean",
            unit="ms",
            ours=mean,
        )
        for iw, mean in zip(WINDOWS, means, strict=True)
    ]
