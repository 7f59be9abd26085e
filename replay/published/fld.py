"""`fld-2012`: bursts of FLD_TCP, a congestion control that favours short flows, among long Reno flows."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from replay.lab.guest_process import Lab
from replay.networks.profiles import FRAME_BYTES, Profile, symmetric
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
from replay.runs.races import Flow, Race, RaceOutcome, race

if TYPE_CHECKING:
    import numpy.typing as npt

ORACLE = read_oracle("fld_2012")
BURSTS: tuple[int, ...] = tuple(ORACLE["bursts_bytes"])
PUBLISHED = {1: ORACLE["one_background_flow"], 3: ORACLE["three_background_flows"]}

IW = 10
QUEUE_BYTES = 20 * FRAME_BYTES
REQUEST_BYTES = 100
FIRST_BURST_S, APART_S = 5.0, 7.0
"""First burst and interval at 10 Mbps, longer in proportion at lower rates. Our choice: the slides' axes are
not readable. Reno's last burst takes 6.2 s.
"""

BACKGROUND_BYTES = {1: 45_000_000, 3: 15_000_000}
"""By number of flows; they take about 40 s at 10 Mbps, as in the slides."""

REPEATS = 20
"""Runs, each with bursts 0.25 s later: RED drops at random."""

CONTROLS = ("fld", "reno")
LEAST_RATIO, MOST_DELAY = 1.5, 0.055
"""Smallest published ratio of a burst's times, and largest published delay of a background flow."""


def network(name: str, mbps: float, delay_ms: float) -> Profile:
    bps, rtt_us = round(mbps * 1e6), round(2e3 * delay_ms)
    return symmetric(name, bps=bps, rtt_us=rtt_us, source=ORACLE["source"], queue_bytes=QUEUE_BYTES)


WAN, MOBILE = network("wan", 10, 15), network("mobile", 2, 50)
COUNTS = (1, 3)

FEW_REPEATS = 5
"""Runs of this reproduction as first made, whose verdict was another."""

DRAWS = 10_000

Outcomes: TypeAlias = "dict[str, list[RaceOutcome]]"
"""By the bursts' congestion control; at the same place they share seed and starts."""


def run(lab: Lab) -> Reproduction:
    raced = {(where, count): race_controls(lab, where, count) for where in (WAN, MOBILE) for count in COUNTS}
    rows = [row for (where, count), outcomes in raced.items() for row in case_rows(where, count, outcomes)]
    ratios = [row.ours for row in rows if row.unit == "x" and row.what.startswith("wan")]
    decided = interval({count: raced[WAN, count] for count in COUNTS})
    mobile = [row.ours for row in rows if row.unit == "x" and row.what.startswith("mobile")]
    delays = [row.ours for row in rows if "background delayed" in row.what and row.what.startswith("wan")]
    return make_reproduction(
        "fld-2012",
        globals(),
        source=ORACLE["source"],
        rows=(*rows, *decided.rows()),
        criteria=(
            at_most("10 Mbps: bursts that Reno sends faster", slower(ratios), 0),
            at_most("2 Mbps: bursts that Reno sends faster", slower(mobile), 0),
            at_least("10 Mbps: median of Reno's time over FLD_TCP's", statistics.median(ratios), LEAST_RATIO),
            at_most("10 Mbps: largest delay of the background", max(delays) / 100, MOST_DELAY),
        ),
        interval=decided.sentence(statistics.median(ratios)),
    )


def slower(ratios: Sequence[float]) -> int:
    return sum(ratio <= 1 for ratio in ratios)


@dataclass(frozen=True, kw_only=True, slots=True)
class RatioInterval:
    """The median ratio of the bursts' times over runs drawn again with replacement (bootstrap)."""

    low: float
    high: float
    """95 % interval with all runs."""
    few_low: float
    few_high: float
    """95 % interval with FEW_REPEATS runs."""
    few_below: float
    """Share of draws of FEW_REPEATS runs below LEAST_RATIO."""

    def rows(self) -> Iterator[ComparedValue]:
        for repeats, low, high in (
            (REPEATS, self.low, self.high),
            (FEW_REPEATS, self.few_low, self.few_high),
        ):
            for which, bound in (("lower", low), ("upper", high)):
                yield ComparedValue(
                    what=f"wan: median ratio with {repeats} runs, {which} bound", unit="times", ours=bound
                )

    def sentence(self, median: float) -> str:
        settled = "settle" if self.low >= LEAST_RATIO or self.high < LEAST_RATIO else "do not settle"
        return (
            "RED drops by chance, and the check that decides is the median ratio of the times: "
            f"{median:.2f}, with a 95 % interval of {self.low:.2f} to {self.high:.2f} over {REPEATS} runs, "
            f"which {settled} on which side of its bound it lies. With {FEW_REPEATS} runs the verdict was "
            f'"not reproduced" ({self.few_low:.2f} to {self.few_high:.2f}; {self.few_below:.0%} of draws '
            "below the bound): the number of runs was raised after a verdict had been seen."
        )


def interval(raced: Mapping[int, Outcomes]) -> RatioInterval:
    generator = np.random.default_rng(2012)
    low, high = np.quantile(draw_medians(raced, REPEATS, generator), [0.025, 0.975])
    few = draw_medians(raced, FEW_REPEATS, generator)
    few_low, few_high = np.quantile(few, [0.025, 0.975])
    return RatioInterval(
        low=float(low),
        high=float(high),
        few_low=float(few_low),
        few_high=float(few_high),
        few_below=float((few < LEAST_RATIO).mean()),
    )


def draw_medians(
    raced: Mapping[int, Outcomes], runs: int, generator: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Return the median ratio in each of DRAWS draws of so many runs, each with both kinds of bursts."""
    ratios = []
    for count, outcomes in raced.items():
        fld, reno = (
            np.array([[flow.seconds for flow in outcome.flows[count:]] for outcome in outcomes[control]])
            for control in CONTROLS
        )
        picks = generator.integers(len(fld), size=(DRAWS, runs))
        ratios.append(reno[picks].mean(axis=1) / fld[picks].mean(axis=1))
    medians: npt.NDArray[np.float64] = np.median(np.concatenate(ratios, axis=1), axis=1)
    return medians


def race_controls(lab: Lab, where: Profile, count: int, *, repeats: int = REPEATS) -> Outcomes:
    return {control: race_all(lab, where, count, control, repeats) for control in CONTROLS}


def case_rows(where: Profile, count: int, outcomes: Outcomes) -> Iterator[ComparedValue]:
    fld, reno = (mean_seconds(outcomes[control]) for control in CONTROLS)
    published = PUBLISHED[count] if where is WAN else {"fld_s": [None] * 4, "reno_s": [None] * 4}
    label = f"{where.id}, {count} background"
    for number in range(len(BURSTS)):
        name = f"{label}, burst {number + 1}"
        theirs = published["fld_s"][number], published["reno_s"][number]
        for control, seconds, means in zip(("FLD_TCP", "Reno"), theirs, (fld, reno), strict=True):
            yield ComparedValue(
                what=f"{name}, {control}",
                unit="s",
                published=seconds,
                ours=means[count + number],
                place=FigurePlace(
                    f"{where.id}, {count} in the background",
                    control,
                    f"{number + 1}: {BURSTS[number] // 1024} KiB",
                ),
            )
        ratio = theirs[1] / theirs[0] if theirs[0] else None
        yield ComparedValue(
            what=f"{name}, Reno over FLD_TCP",
            unit="x",
            published=ratio,
            ours=reno[count + number] / fld[count + number],
        )
    delay = 100 * (max(fld[:count]) / max(reno[:count]) - 1)
    yield ComparedValue(what=f"{label}: background delayed by FLD_TCP", unit="%", ours=delay)


def race_all(lab: Lab, where: Profile, count: int, control: str, repeats: int) -> list[RaceOutcome]:
    """Run the bursts `repeats` times, each a little later and with its own seed."""
    slowness = WAN.down_bps / where.down_bps
    races = []
    for repeat in range(repeats):
        background = [flow(0.1 * number, BACKGROUND_BYTES[count], "reno") for number in range(count)]
        starts = [
            slowness * (FIRST_BURST_S + APART_S * number) + 0.25 * repeat for number in range(len(BURSTS))
        ]
        bursts = [flow(start, burst, control) for start, burst in zip(starts, BURSTS, strict=True)]
        races.append(Race(profile=where, flows=(*background, *bursts), seed=repeat))
    return race(lab, races, shaper="red", congestion_control="reno")


def flow(begins_s: float, size: int, control: str) -> Flow:
    return Flow(
        policy=Policy(IW),
        request_bytes=REQUEST_BYTES,
        response_bytes=size,
        begins_s=begins_s,
        congestion_control=control,
    )


def mean_seconds(races: Sequence[RaceOutcome]) -> list[float]:
    return [
        statistics.fmean(outcome.flows[at].seconds for outcome in races) for at in range(len(races[0].flows))
    ]
