"""`baidu-2018`: uploads from a mobile client at IW 10 and 30, standing, in a car and on a fast train."""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from releases.slow_start import flights
from replay.lab.guest_process import Lab
from replay.networks.populations import profile
from replay.networks.profiles import Profile
from replay.published.reproduction import (
    ComparedValue,
    Criterion,
    FigurePlace,
    Reproduction,
    at_least,
    at_most,
    make_reproduction,
    read_oracle,
)
from replay.runs.policy import Policy
from replay.runs.races import Flow, Race, race

ORACLE = read_oracle("baidu_2018")
MSS: int = ORACLE["mss"]
CASES = ("static-suzhou", "static-beijing", "car", "train")
STATIC, TRAIN = ("static-suzhou", "static-beijing"), "train"

WINDOWS = (10, 30)
SIZES_KB = (10, 20, 30, 50, 75, 100, 130, 160, 240, 500, 1000, 2000, 4000)
MIDDLE_KB = (30, 50, 75, 100, 130, 160)
"""Upload sizes with a gain in the paper's static cases."""

RESPONSE_BYTES = 200

SEEDS = 40

CONGESTION_CONTROL = "cubic"


def run(lab: Lab) -> Reproduction:
    rounds = equation_rows()
    gains = {case: gains_of(lab, case) for case in CASES}
    summary = summarise(gains)
    return make_reproduction(
        "baidu-2018",
        globals(),
        source=ORACLE["source"],
        rows=(*rounds, *gain_rows(summary, gains)),
        criteria=tuple(criteria(rounds, summary, gains)),
        up_mbps=network(CASES[0]).up_bps / 1e6,
    )


Gains: TypeAlias = "Mapping[str, Mapping[int, float]]"


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """A gain that the paper prints, and ours."""

    what: str
    published: float
    ours: float


def summarise(gains: Gains) -> tuple[Summary, Summary, Summary]:
    published: dict[str, float] = ORACLE["gain"]
    return (
        Summary(
            what="static, mean of 30 to 160 KB",
            published=published["static_30_to_160_kb"],
            ours=statistics.fmean(gains[case][size] for case in STATIC for size in MIDDLE_KB),
        ),
        Summary(
            what="static, 1 MB",
            published=published["static_1_mb"],
            ours=statistics.fmean(gains[case][1000] for case in STATIC),
        ),
        Summary(
            what="train, best of 75 and 100 KB",
            published=published["train_75_to_100_kb"],
            ours=max(gains[TRAIN][size] for size in (75, 100)),
        ),
    )


def gain_rows(summary: Iterable[Summary], gains: Gains) -> Iterator[ComparedValue]:
    for line in summary:
        yield ComparedValue(
            what=f"{line.what}: time saved by IW 30",
            unit="%",
            published=100 * line.published,
            ours=100 * line.ours,
            place=FigurePlace("What the paper prints: time saved by IW 30", "time saved", line.what),
        )
    for case, by_size in gains.items():
        for size, gain in by_size.items():
            yield ComparedValue(
                what=f"{case}, {size:,} KB: time saved by IW 30",
                unit="%",
                ours=100 * gain,
                place=FigurePlace("Fig 3: time saved by IW 30, by upload", case, f"{size:,} KB"),
            )


def criteria(
    rounds: Sequence[ComparedValue], summary: tuple[Summary, Summary, Summary], gains: Gains
) -> Iterator[Criterion]:
    """Yield exact rounds, gains within a factor of two, and the order of cases."""
    differing = sum(row.ours != row.published for row in rounds)
    yield at_most("rounds of equation 6 that differ", differing, 0)
    losing = sum(gains[case][size] < 0 for case in STATIC for size in MIDDLE_KB)
    yield at_most("static, 30 to 160 KB: sizes that lose", losing, 0)
    for line in summary:
        least, most = line.published / 2, 2 * line.published
        yield at_least(f"{line.what}: at least half of the gain", line.ours, least)
        yield at_most(f"{line.what}: at most twice the gain", line.ours, most)
    static, _, train = summary
    yield at_least("the best gain on the train, less the mean static one", train.ours - static.ours, 0)


def equation_rows() -> list[ComparedValue]:
    return [
        ComparedValue(
            what=f"eq. 6: {example.get('segments') or example['bytes']:,} "
            f"{'segments' if 'segments' in example else 'B'}, IW {example['iw']}",
            unit="rounds",
            published=example["rounds"],
            ours=flights(example.get("bytes") or example["segments"] * MSS, iw=example["iw"], mss=MSS),
        )
        for example in ORACLE["rounds"]
    ]


def network(case: str) -> Profile:
    return profile(f"baidu-{case}")


def gains_of(lab: Lab, case: str, sizes_kb: Sequence[int] = SIZES_KB) -> Mapping[int, float]:
    """Return the share of the mean time that IW 30 saves, by size in KB."""
    where = network(case)
    repeats = SEEDS if where.loss else 1
    races = [
        Race(
            profile=where,
            flows=(
                Flow(
                    policy=Policy(iw), request_bytes=1000 * size, response_bytes=RESPONSE_BYTES, upload=True
                ),
            ),
            seed=1 + 2 * seed,
        )
        for size in sizes_kb
        for iw in WINDOWS
        for seed in range(repeats)
    ]
    outcomes = race(lab, races, shaper="tbf", congestion_control=CONGESTION_CONTROL)
    times = [outcome.flows[0].seconds - outcome.flows[0].handshake_s for outcome in outcomes]
    means = [statistics.fmean(times[at : at + repeats]) for at in range(0, len(times), repeats)]
    return {size: 1 - means[2 * at + 1] / means[2 * at] for at, size in enumerate(sizes_kb)}
