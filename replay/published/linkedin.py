"""`linkedin-2016`: Hybla, Scalable and YeAH against H-TCP over networks of emerging markets."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from replay.lab.guest_process import Lab
from replay.networks.populations import LONG_RTT_MBPS, LONG_RTTS_MS, long_rtt
from replay.networks.profiles import Profile
from replay.published.reproduction import Place, Reproduction, Row, at_least, at_most
from replay.published.signed_rank import wilcoxon_signed_rank
from replay.runs.transfers import Flow, Race, race

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

ORACLE = json.loads((Path(__file__).with_name("oracles") / "linkedin_2016.json").read_text(encoding="utf-8"))
CONTROL: str = ORACLE["control"]
CANDIDATES: tuple[str, ...] = tuple(ORACLE["candidates"])
PUBLISHED: tuple[float, float] = tuple(ORACLE["desktop_india_content_download_gain"])

LOSSES = (0.0, 0.005, 0.02)
"""Loss rates of the grid, fixed before the run. Our choice: the article prints no network."""

SIZES = (60_000, 300_000, 1_000_000)
"""Sizes of a base page, of a page's HTTP/2 connection, and of a heavy page. Our choice."""

IW, SEEDS, REQUEST_BYTES = 10, 10, 500
REPLICATES = 10_000


def run(lab: Lab) -> Reproduction:
    """Measure all congestion controls over the grid, with intervals of their gains."""
    times = download_times(lab, grid())
    gains = {name: 1 - times[name].mean(axis=1) / times[CONTROL].mean(axis=1) for name in CANDIDATES}
    bounds = {name: interval(found) for name, found in gains.items()}
    best = max(CANDIDATES, key=lambda name: float(gains[name].mean()))
    hybla = float(gains[ORACLE["best"]].mean())
    return Reproduction(
        id="linkedin-2016",
        title="Content download time by congestion control over long round trips",
        source=ORACLE["source"],
        method=f"One connection's download at IW {IW}, from the request to the last byte, over RTT {LONG_RTTS_MS} ms x {LONG_RTT_MBPS} Mbps x "
        f"random loss {LOSSES} each way, of {SIZES} B, queue 64 kB, {SEEDS} seeds where there is loss; gain of a cell is 1 less "
        f"the mean time over {CONTROL}'s. Means over the cells with bootstrap intervals (95 %) and Wilcoxon's test.",
        rows=tuple(rows(gains, bounds)),
        criteria=(
            *(
                at_least(f"{name}: lower bound of the mean gain over {CONTROL}", bounds[name][0], 0)
                for name in CANDIDATES
            ),
            at_least("hybla: mean gain, at least half of the published 5 %", hybla, PUBLISHED[0] / 2),
            at_most("hybla: mean gain, at most twice the published 7 %", hybla, 2 * PUBLISHED[1]),
            at_most("candidates better than hybla", int(best != ORACLE["best"]), 0),
        ),
        defects=(
            "The article prints no bandwidth, round trip, loss or size: its gains are of users in India over a week, ours of a grid "
            "whose cells all weigh the same. The grid was not fitted to its result.",
            "Its kernel, its load balancers and what its machines served besides are not said.",
            "YeAH's fast mode is Scalable's rule, increase and decrease: one flow alone seldom leaves it, and the two come out the same.",
            "Losses here fall alone and whatever the load; in its networks they may come of queues and radio.",
            "Why not: where nothing is lost, Hybla's slow start, which is faster by the round trip over 25 ms, overruns the queue and "
            "loses up to half of its speed; where 2 % are lost it gains most. The mean over the grid is positive, its interval is not.",
        ),
    )


def grid() -> list[tuple[Profile, int]]:
    """All networks and sizes."""
    return [
        (long_rtt(rtt_ms, mbps, loss), size)
        for rtt_ms, mbps, loss in itertools.product(LONG_RTTS_MS, LONG_RTT_MBPS, LOSSES)
        for size in SIZES
    ]


def download_times(lab: Lab, cells: Sequence[tuple[Profile, int]], seeds: int = SEEDS) -> dict[str, Floats]:
    """Durations in seconds by congestion control, as an array of cells x seeds."""
    races = [
        Race(
            profile=where,
            flows=(Flow(iw=IW, request_bytes=REQUEST_BYTES, response_bytes=size, congestion_control=name),),
            seed=1 + 2 * seed,
        )
        for where, size in cells
        for name in (CONTROL, *CANDIDATES)
        for seed in range(seeds)
    ]
    found = race(lab, races, shaper="tbf", congestion_control=CONTROL)
    seconds = np.array([one.flows[0].seconds - one.flows[0].handshake_s for one in found])
    shaped = seconds.reshape(len(cells), 1 + len(CANDIDATES), seeds)
    return {name: shaped[:, at] for at, name in enumerate((CONTROL, *CANDIDATES))}


def interval(gains: Floats) -> tuple[float, float]:
    """Bootstrap interval (95 %) of the mean gain, by resampling cells."""
    generator = np.random.default_rng(2016)
    drawn = gains[generator.integers(len(gains), size=(REPLICATES, len(gains)))].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def rows(gains: dict[str, Floats], bounds: dict[str, tuple[float, float]]) -> Iterator[Row]:
    """Yield mean, interval, test and losses of each candidate, then the gain of each cell."""
    for name, found in gains.items():
        mean = 100 * float(found.mean())
        published = 100 * sum(PUBLISHED) / 2 if name == ORACLE["best"] else None
        yield Row(what=f"{name}: mean gain", unit="%", published=published, ours=mean)
        for which, bound in zip(("lower", "upper"), bounds[name], strict=True):
            yield Row(what=f"{name}: {which} bound", unit="%", ours=100 * bound)
        p = wilcoxon_signed_rank(found)
        yield Row(what=f"{name}: Wilcoxon's p", unit="", ours=p)
        lost = int((found < 0).sum())
        yield Row(what=f"{name}: cells of {len(found)} that lose", unit="", ours=lost)
        yield Row(what=f"{name}: worst cell", unit="%", ours=100 * float(found.min()))
    for name, found in gains.items():
        for (where, size), gain in zip(grid(), found, strict=True):
            yield Row(
                what=f"{name}: {where.id}, {size:,} B",
                unit="%",
                ours=100 * float(gain),
                place=Place(f"{100 * where.loss:g} % lost: gain over {CONTROL}, a dot a cell", name, name),
            )
