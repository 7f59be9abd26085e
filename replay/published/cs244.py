"""`cs244-2017`: Stanford's rerun of the 2010 paper's Figs 5 and 7 in Mininet, repeated in our lab."""

import csv
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from releases.slow_start import MSS_TIMESTAMPS, linux_flights, segments
from replay.lab.guest_process import Lab
from replay.networks.profiles import FRAME_BYTES, Profile, symmetric
from replay.published.reproduction import (
    ORACLES,
    ComparedValue,
    Criterion,
    FigurePlace,
    Reproduction,
    at_most,
    error_criteria,
    make_reproduction,
)
from replay.runs.policy import Policy
from replay.runs.races import Race, download, race

CELLS = ORACLES / "cs244_2017_cells.csv"
"""Medians of the published run in seconds, without each configuration's first sample."""

SOURCE = (
    "Colbran, CS244 '17: An Argument for Increasing TCP's Initial Congestion Window (reproduction, 2017), "
    "raw run in a fork of its repository (jervisfm/CS244, test_run.txt)"
)

HEADER_BYTES = 190
"""Approximate, of its server's replies."""

REQUEST_BYTES = 90
"""Approximate, of curl."""

WINDOWS = (3, 10)
SEGMENT_BYTES = 1500
"""Segment size that the rerun assumed."""

QUEUE_BYTES = 1_500_000
"""Queue of 1,000 packets, the default of Mininet and netem: nothing is lost."""

SHAPERS = {"netem": "netem's own rate", "mininet": "Mininet's HTB"}
MEDIAN, P90 = 0.03, 0.08
CONGESTION_CONTROL = "cubic"

LARGEST = 0.15
"""Relative difference above which a cell needs an explanation."""

LARGEST_POINTS = 3.0
"""Percentage points that need no explanation: what the median error of times can make of a ratio."""

UNSHAPED_PACKETS = 2
"""Packets that pass Mininet's HTB unshaped: with a cburst of 1,600 B the second still finds tokens, the third
none.
"""

KERNEL_MS = 5.0
"""What the rerun's real-time kernel adds to a round trip: 0.151 s for two of 70 ms at 200 Mbps, and so in all
such cells.
"""

HYSTART_LOW_WINDOW = 16
"""Window from which CUBIC's HyStart may end slow start (hystart_low_window)."""

CUBIC_C = 0.4
"""CUBIC's growth in segments per cubic second (RFC 9438 §5)."""

PANELS = {
    "segments": "Fig 7, segments",
    "bw": "Fig 5, bandwidth, kbps",
    "rtt": "Fig 5, RTT, ms",
    "bdp": "Fig 5, BDP, bytes",
    "iw": "Search page by initial window",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishedCell:
    """A cell of the raw run: one file over one network at one window."""

    experiment: str
    file: Race
    what: str
    seconds: float
    x: str

    @property
    def iw(self) -> int:
        return self.file.flows[0].policy.window


def run(lab: Lab) -> Reproduction:
    cells = read_cells()
    rows: list[ComparedValue] = []
    criteria: list[Criterion] = []
    times_by_shaper: dict[str, list[float]] = {}
    for shaper, name in SHAPERS.items():
        files = [cell.file for cell in cells]
        times = race(lab, files, shaper=shaper, congestion_control=CONGESTION_CONTROL)
        times_rows = [
            ComparedValue(
                what=f"{cell.what}, {name}", unit="s", published=cell.seconds, ours=time.flows[0].seconds
            )
            for cell, time in zip(cells, times, strict=True)
        ]
        times_by_shaper[shaper] = [row.ours for row in times_rows]
        reasons, all_explained = explain(files, times_rows, shaper, name)
        rows += (*times_rows, *reasons, *figure_rows(cells, times_rows, name))
        criteria += (*error_criteria(times_rows, what=name, median=MEDIAN, p90=P90), all_explained)
    return make_reproduction(
        "cs244-2017",
        globals(),
        source=SOURCE,
        rows=tuple(rows),
        criteria=(*criteria, check_gains(cells, times_by_shaper)),
    )


def network(kbps: float, rtt_ms: float) -> Profile:
    name = f"cs244-{kbps:g}kbps-{rtt_ms:g}ms"
    bps, rtt_us = round(kbps * 1000), round(rtt_ms * 1000)
    return symmetric(name, bps=bps, rtt_us=rtt_us, source=SOURCE, queue_bytes=QUEUE_BYTES)


def file_of(kbps: float, rtt_ms: float, iw: int, size_bytes: int) -> Race:
    return download(
        network(kbps, rtt_ms),
        policy=Policy(iw),
        request_bytes=REQUEST_BYTES,
        response_bytes=size_bytes + HEADER_BYTES,
    )


def read_cells() -> list[PublishedCell]:
    with CELLS.open(encoding="utf-8", newline="") as file:
        return [read_cell(row) for row in csv.DictReader(file)]


def read_cell(row: Mapping[str, str]) -> PublishedCell:
    kbps, rtt_ms, size_bytes = float(row["bw_kbps"]), float(row["rtt_ms"]), int(row["bytes"])
    xs = {
        "segments": f"{size_bytes // SEGMENT_BYTES}",
        "bw": f"{kbps:g}",
        "rtt": f"{rtt_ms:g}",
        "bdp": f"{kbps * rtt_ms / 8:.0f}",
        "iw": f"IW {row['iw']}",
    }
    return PublishedCell(
        experiment=row["exp"],
        file=file_of(kbps, rtt_ms, int(row["iw"]), size_bytes),
        what=f"{row['exp']}: {kbps:g} kbps, {rtt_ms:g} ms, {size_bytes:,} B, IW {row['iw']}",
        seconds=float(row["median_rest_s"]),
        x=xs[row["exp"]],
    )


def whole_grid() -> list[list[Race]]:
    shown = [cell for cell in read_cells() if cell.experiment != "iw"]
    grouped = itertools.groupby(shown, key=lambda cell: (cell.experiment, cell.x, cell.iw))
    return [[cell.file for cell in files] for _, files in grouped]


def check_gains(cells: Sequence[PublishedCell], times_by_shaper: Mapping[str, Sequence[float]]) -> Criterion:
    """Return the criterion that a shaper gives each gain, as measured or with an effect of the rerun's
    machine.
    """
    shown = [place for place, cell in enumerate(cells) if cell.experiment != "iw"]
    files = [cells[place].file for place in shown]
    trials = [
        [100 * (slow / fast - 1) for slow, fast in both.values()]
        for shaper, seconds in times_by_shaper.items()
        for times in possible_times(files, [seconds[place] for place in shown], shaper)
        for both in [totals([cells[place] for place in shown], times)]
    ]
    published = [
        100 * (slow / fast - 1)
        for slow, fast in totals(
            [cells[place] for place in shown], [cells[place].seconds for place in shown]
        ).values()
    ]
    return gain_criterion(published, trials)


def totals(cells: Sequence[PublishedCell], seconds: Sequence[float]) -> dict[tuple[str, str], list[float]]:
    """Return the total times at each window, in order, by experiment and place."""
    by_place: dict[tuple[str, str], dict[int, float]] = {}
    for cell, time in zip(cells, seconds, strict=True):
        by_window = by_place.setdefault((cell.experiment, cell.x), {})
        by_window[cell.iw] = by_window.get(cell.iw, 0.0) + time
    return {key: [by_window[iw] for iw in sorted(by_window)] for key, by_window in by_place.items()}


def figure_rows(
    cells: Sequence[PublishedCell], ours_rows: Sequence[ComparedValue], shaper: str
) -> Iterator[ComparedValue]:
    """Yield the rerun's gains, total time at IW 3 over that at IW 10 less 1, and the totals."""
    theirs = totals(cells, [cell.seconds for cell in cells])
    for (experiment, x), both in totals(cells, [row.ours for row in ours_rows]).items():
        if experiment == "iw":
            what, unit, series = "total time", "s", "total time"
            (published,), (ours,) = theirs[experiment, x], both
        else:
            what, unit, series = "gain of IW 10 over 3", "%", "gain"
            published, ours = (100 * (slow / fast - 1) for slow, fast in (theirs[experiment, x], both))
        panel = PANELS[experiment]
        yield ComparedValue(
            what=f"{panel} {x}: {what}, {shaper}",
            unit=unit,
            published=published,
            ours=ours,
            place=FigurePlace(f"{panel}: {what}, {shaper}", series, x),
        )


# Effects of the rerun's own machine that explain single cells, each with the time that it predicts. They were
# found after the cells had been seen. Each is held to the cell alone: a cell that none of them brings within
# the limit counts as unexplained.


@dataclass(frozen=True, slots=True)
class Explanation:
    """An effect of the rerun's machine."""

    what: str
    predict: Callable[[Race, float], float | None]
    """Time in seconds with the effect, from the download and our time without it; None where it cannot be."""


def without_two_packets(file: Race, ours: float) -> float:
    """Return our time less two full packets at the bottleneck."""
    return ours - UNSHAPED_PACKETS * FRAME_BYTES * 8 / file.profile.down_bps


def with_a_real_kernel(file: Race, ours: float) -> float:
    """Return our time with 5 ms more for the handshake and each flight."""
    (flow,) = file.flows
    return ours + (1 + linux_flights(flow.response_bytes, iw=flow.policy.window)) * KERNEL_MS / 1e3


def with_an_early_end_of_slow_start(file: Race, _ours: float) -> float | None:
    """Return the time if slow start ends at HyStart's first window and CUBIC grows from there.

    None from IW 10 on, and where a flight fills the round trip: its times show no such end there.
    """
    rtt_s = file.profile.rtt_us / 1e6
    packet_s = FRAME_BYTES * 8 / file.profile.down_bps
    (flow,) = file.flows
    if flow.policy.window >= 10:
        return None
    left = segments(flow.response_bytes, mss=MSS_TIMESTAMPS)
    for rounds, window in enumerate(cubic_windows(flow.policy.window, rtt_s)):
        if left <= window:
            return (2 + rounds) * rtt_s + left * packet_s
        if window * packet_s > rtt_s:
            return None
        left -= window
    raise AssertionError


def cubic_windows(iw: int, rtt_s: float) -> Iterator[int]:
    """Yield each flight's window: doubled up to HyStart's, then CUBIC's from that origin."""
    window = iw
    while window < HYSTART_LOW_WINDOW:
        yield window
        window *= 2
    after_s = 0.0
    while True:
        yield int(window + CUBIC_C * after_s**3)
        after_s += rtt_s


EXPLANATIONS = {
    "netem": (
        Explanation("two packets passed its shaper unshaped", without_two_packets),
        Explanation("its slow start ended early", with_an_early_end_of_slow_start),
    ),
    "mininet": (
        Explanation("its kernel added 5 ms a round trip", with_a_real_kernel),
        Explanation("its slow start ended early", with_an_early_end_of_slow_start),
    ),
}
"""Effects by our shaper: netem's own rate lacks HTB's unshaped packets."""


def explain(
    files: Sequence[Race], measured: Sequence[ComparedValue], shaper: str, name: str
) -> tuple[list[ComparedValue], Criterion]:
    """Return a row for each cell beyond LARGEST that an effect explains, and the criterion that all are."""
    rows, unexplained = [], 0
    for file, row in zip(files, measured, strict=True):
        if row.difference is None or abs(row.difference) <= LARGEST:
            continue
        trials = (
            ComparedValue(
                what=f"{row.what}, if {effect.what}", unit=row.unit, published=row.published, ours=seconds
            )
            for effect in EXPLANATIONS[shaper]
            if (seconds := effect.predict(file, row.ours)) is not None
        )
        best = min(trials, key=difference, default=row)
        if difference(best) <= LARGEST:
            rows.append(best)
        else:
            unexplained += 1
    return rows, at_most(f"{name}: cells more than {LARGEST:.0%} off that nothing explains", unexplained, 0)


def possible_times(files: Sequence[Race], ours: Sequence[float], shaper: str) -> Iterator[list[float]]:
    yield list(ours)
    for effect in EXPLANATIONS[shaper]:
        predicted = [effect.predict(file, seconds) for file, seconds in zip(files, ours, strict=True)]
        yield [mine if time is None else time for mine, time in zip(ours, predicted, strict=True)]


def gain_criterion(published: Sequence[float], trials: Sequence[Sequence[float]]) -> Criterion:
    """Return the criterion that each gain is near one of its `trials`, in percent.

    >>> gain_criterion([0.6, 29.4, 42.2], [[0.1, 40.0, 22.0], [0.5, 28.6, 21.0]]).measured
    1
    """
    count = sum(
        all(abs(ours - theirs) > max(LARGEST * abs(theirs), LARGEST_POINTS) for ours in trial)
        for theirs, *trial in zip(published, *trials, strict=True)
    )
    return at_most(
        f"gains more than {LARGEST:.0%} and {LARGEST_POINTS:g} points off with both "
        "shapers that nothing explains",
        count,
        0,
    )


def difference(row: ComparedValue) -> float:
    assert row.difference is not None
    return abs(row.difference)
