"""`linkedin-2016`: Hybla, Scalable and YeAH against H-TCP over networks of emerging markets."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from replay.lab.guest_process import Lab
from replay.networks.populations import LONG_RTT_MBPS, LONG_RTTS_MS, long_rtt
from replay.networks.profiles import Profile
from replay.published.reproduction import (
    ComparedValue,
    FigurePlace,
    Reproduction,
    at_least,
    at_most,
    make_reproduction,
    read_oracle,
)
from replay.runs.policy import Policy
from replay.runs.races import Flow, Race, race

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

ORACLE = read_oracle("linkedin_2016")
CONTROL: str = ORACLE["control"]
CANDIDATES: tuple[str, ...] = tuple(ORACLE["candidates"])
PUBLISHED: tuple[float, float] = tuple(ORACLE["desktop_india_content_download_gain"])

LOSSES = (0.0, 0.005, 0.02)
"""Loss rates, fixed before the run. Our choice: the article prints no network."""

SIZES = (60_000, 300_000, 1_000_000)
"""Bytes of a base page, of a page's HTTP/2 connection, and of a heavy page. Our choice."""

IW, SEEDS, REQUEST_BYTES = 10, 10, 500
REPLICATES = 2_000


def run(lab: Lab) -> Reproduction:
    """Measure all congestion controls over the grid."""
    times = download_times(lab, grid())
    gains = {name: gains_of(times[name], times[CONTROL]) for name in CANDIDATES}
    bounds = {name: interval(times[name], times[CONTROL]) for name in CANDIDATES}
    best = max(CANDIDATES, key=lambda name: float(gains[name].mean()))
    hybla = float(gains[ORACLE["best"]].mean())
    return make_reproduction(
        "linkedin-2016",
        globals(),
        source=ORACLE["source"],
        rows=tuple(rows(gains, bounds)),
        criteria=(
            *(
                at_least(
                    f"{name}: lower bound of the mean gain over {CONTROL}, over seeds", bounds[name][0], 0
                )
                for name in CANDIDATES
            ),
            *(
                at_least(
                    f"{name}: least mean gain at any RTT, bandwidth, loss or size of the grid",
                    min(mean for _, mean in by_level(gains[name])),
                    0,
                )
                for name in CANDIDATES
            ),
            at_least("hybla: mean gain, at least half of the published 5 %", hybla, PUBLISHED[0] / 2),
            at_most("hybla: mean gain, at most twice the published 7 %", hybla, 2 * PUBLISHED[1]),
            at_most("candidates better than hybla", int(best != ORACLE["best"]), 0),
        ),
    )


def grid() -> list[tuple[Profile, int]]:
    return [
        (long_rtt(rtt_ms, mbps, loss), size)
        for rtt_ms, mbps, loss in itertools.product(LONG_RTTS_MS, LONG_RTT_MBPS, LOSSES)
        for size in SIZES
    ]


def download_times(lab: Lab, cells: Sequence[tuple[Profile, int]], seeds: int = SEEDS) -> dict[str, Floats]:
    """Return durations in seconds by congestion control, cells x seeds."""
    races = [
        Race(
            profile=where,
            flows=(
                Flow(
                    policy=Policy(IW),
                    request_bytes=REQUEST_BYTES,
                    response_bytes=size,
                    congestion_control=name,
                ),
            ),
            seed=1 + 2 * seed,
        )
        for where, size in cells
        for name in (CONTROL, *CANDIDATES)
        for seed in range(seeds)
    ]
    outcomes = race(lab, races, shaper="tbf", congestion_control=CONTROL)
    seconds = np.array([outcome.flows[0].seconds - outcome.flows[0].handshake_s for outcome in outcomes])
    shaped = seconds.reshape(len(cells), 1 + len(CANDIDATES), seeds)
    return {name: shaped[:, at] for at, name in enumerate((CONTROL, *CANDIDATES))}


def gains_of(times: Floats, control: Floats) -> Floats:
    """Return the share of the mean time that a candidate saves in each cell; arrays end in cells x seeds."""
    gains: Floats = 1 - times.mean(axis=-1) / control.mean(axis=-1)
    return gains


def interval(times: Floats, control: Floats) -> tuple[float, float]:
    """Return the 95 % interval of the mean gain over this grid, by resampling each cell's seeds.

    A seed is drawn for both: it loses the same packets, as far as they send alike.
    """
    generator = np.random.default_rng(2016)
    cells = np.arange(len(times))[:, None]
    means = []
    for _ in range(REPLICATES):
        picks = cells, generator.integers(times.shape[1], size=times.shape)
        means.append(float(gains_of(times[picks], control[picks]).mean()))
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def by_level(gains: Floats) -> Iterator[tuple[str, float]]:
    levels: dict[str, list[float]] = {}
    for (where, size), gain in zip(grid(), gains, strict=True):
        for level in (
            f"RTT {where.rtt_us / 1000:g} ms",
            f"{where.down_bps / 1e6:g} Mbps",
            f"{100 * where.loss:g} % lost",
            f"{size:,} B",
        ):
            levels.setdefault(level, []).append(float(gain))
    for level, level_gains in levels.items():
        yield level, sum(level_gains) / len(level_gains)


def rows(gains: dict[str, Floats], bounds: dict[str, tuple[float, float]]) -> Iterator[ComparedValue]:
    for name, cell_gains in gains.items():
        mean = 100 * float(cell_gains.mean())
        published = 100 * sum(PUBLISHED) / 2 if name == ORACLE["best"] else None
        yield ComparedValue(what=f"{name}: mean gain", unit="%", published=published, ours=mean)
        for which, bound in zip(("lower", "upper"), bounds[name], strict=True):
            yield ComparedValue(what=f"{name}: {which} bound over seeds", unit="%", ours=100 * bound)
        for level, gain in by_level(cell_gains):
            yield ComparedValue(what=f"{name}: mean gain at {level}", unit="%", ours=100 * gain)
        lost = int((cell_gains < 0).sum())
        yield ComparedValue(what=f"{name}: cells of {len(cell_gains)} that lose", unit="", ours=lost)
        yield ComparedValue(what=f"{name}: worst cell", unit="%", ours=100 * float(cell_gains.min()))
    for name, cell_gains in gains.items():
        for (where, size), gain in zip(grid(), cell_gains, strict=True):
            yield ComparedValue(
                what=f"{name}: {where.id}, {size:,} B",
                unit="%",
                ours=100 * float(gain),
                place=FigurePlace(
                    f"{100 * where.loss:g} % lost: gain over {CONTROL}, a dot a cell", name, name
                ),
            )
