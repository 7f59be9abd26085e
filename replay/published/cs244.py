"""`cs244-2017`: Stanford's rerun of the 2010 paper's Figs 5 and 7 in Mininet, repeated in our lab."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from replay.lab.guest_process import Lab
from replay.networks.profiles import Profile, symmetric
from replay.published.reproduction import Criterion, Place, Reproduction, Row, error_criteria
from replay.runs.transfers import Transfer, transfer

CELLS = Path(__file__).with_name("oracles") / "cs244_2017_cells.csv"
"""Medians of the published raw run in seconds, without the first sample of each configuration."""

SOURCE = (
    "Colbran, CS244 '17: An Argument for Increasing TCP's Initial Congestion Window (reproduction, 2017), "
    "raw run of its repository"
)

HEADER_BYTES = 190
"""Approximate header size of its server's replies."""

REQUEST_BYTES = 90
"""Approximate size of curl's request."""

WINDOWS = (3, 10)
SEGMENT_BYTES = 1500
"""Segment size that the rerun assumed."""

SEARCH_BYTES = (399_644, 168_604, 5_087, 137_060, 475_867)
"""Sizes of the five objects of its search page."""

RTTS_MS = (20, 50, 100, 200, 500, 1000)
BANDWIDTHS_KBPS = (256, 512, 1_000, 2_000, 3_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000)
SEGMENTS = (3, 4, 7, 10, 15, 30, 50)
BDPS_BYTES = (1_000, 5_000, 10_000, 50_000, 100_000, 200_000)
KBPS, RTT_MS = 1200.0, 70.0
"""Bandwidth and RTT that are fixed while the other varies."""

QUEUE_BYTES = 1_500_000
"""Queue of 1,000 packets, the default of Mininet and netem: nothing is lost."""

SHAPERS = {"netem": "netem's own rate", "mininet": "Mininet's HTB with its burst of 15 kB"}
MEDIAN, P90 = 0.03, 0.08
CONGESTION_CONTROL = "cubic"


def run(lab: Lab) -> Reproduction:
    """Measure the published cells with both shapers, and the gains by RTT and BDP, which are not published."""
    cells = published_cells()
    transfers = [one.transfer for one in cells]
    rows: list[Row] = []
    criteria: list[Criterion] = []
    for shaper, name in SHAPERS.items():
        times = transfer(lab, transfers, shaper=shaper, congestion_control=CONGESTION_CONTROL)
        found = [
            Row(what=f"{one.what}, {name}", unit="s", published=one.seconds, ours=time.seconds)
            for one, time in zip(cells, times, strict=True)
        ]
        rows += (*found, *figure_rows(cells, found, name))
        criteria += error_criteria(found, what=name, median=MEDIAN, p90=P90)
    return Reproduction(
        id="cs244-2017",
        title="Figs 5 and 7 of the rerun: response time by bandwidth and by size, IW 3 and 10",
        source=SOURCE,
        method="Each file over a new connection on an idle network of its rate and delay, time from the first SYN to "
        f"the last byte of payload, {CONGESTION_CONTROL}; replies with {HEADER_BYTES} B of header.",
        rows=(*rows, *gain_rows(lab)),
        criteria=tuple(criteria),
        defects=(
            "ARP stands in the first sample of each of its configurations (left out here).",
            "Its 3 segments are 4,500 B and a header: 4 segments on the wire.",
            "A queue of 1,000 packets never drops: the experiment shows no cost of a larger window.",
            "One connection after the other: no page, no competition.",
            "It ran 60 cells (6 RTTs, 11 bandwidths, 6 BDPs, 7 sizes, two windows) and left out 56 kbps and the RTTs above "
            "1,000 ms of the paper's, which would make 66: too slow, or against timeouts of its kernel. So are they left out here.",
            "Mininet's HTB lets 15 kB pass unshaped, ten segments: short files at low rates are too fast in it.",
            "Its real-time kernel adds some 5 ms a round trip, which virtual time does not have.",
        ),
    )


def network(kbps: float, rtt_ms: float) -> Profile:
    """A symmetric network between two hosts."""
    name = f"cs244-{kbps:g}kbps-{rtt_ms:g}ms"
    bps, rtt_us = round(kbps * 1000), round(rtt_ms * 1000)
    return symmetric(name, bps=bps, rtt_us=rtt_us, source=SOURCE, queue_bytes=QUEUE_BYTES)


def file_transfer(kbps: float, rtt_ms: float, iw: int, size_bytes: int) -> Transfer:
    """The transfer of one file."""
    return Transfer(
        profile=network(kbps, rtt_ms),
        iw=iw,
        request_bytes=REQUEST_BYTES,
        response_bytes=size_bytes + HEADER_BYTES,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishedCell:
    """A cell of the raw run."""

    transfer: Transfer
    what: str
    seconds: float
    panel: str
    x: str


def published_cells() -> list[PublishedCell]:
    """All cells of the raw run."""
    with CELLS.open(encoding="utf-8", newline="") as file:
        return [published_cell(row) for row in csv.DictReader(file)]


def published_cell(row: Mapping[str, str]) -> PublishedCell:
    """A cell from a row of the file."""
    kbps, size_bytes = float(row["bw_kbps"]), int(row["bytes"])
    is_segments = row["exp"] == "segments"
    return PublishedCell(
        transfer=file_transfer(kbps, float(row["rtt_ms"]), int(row["iw"]), size_bytes),
        what=f"{row['exp']}: {kbps:g} kbps, {size_bytes:,} B, IW {row['iw']}",
        seconds=float(row["median_rest_s"]),
        panel="Fig 7, segments" if is_segments else "Fig 5, bandwidth, kbps",
        x=str(size_bytes // SEGMENT_BYTES) if is_segments else f"{kbps:g}",
    )


def figure_rows(cells: Sequence[PublishedCell], found: Sequence[Row], shaper: str) -> Iterator[Row]:
    """Yield the gains of the rerun's figures: total time at IW 3 over total time at IW 10, less 1."""
    sums: dict[tuple[str, str], dict[int, list[float]]] = {}
    for cell, row in zip(cells, found, strict=True):
        both = sums.setdefault((cell.panel, cell.x), {}).setdefault(cell.transfer.iw, [0.0, 0.0])
        both[0] += cell.seconds
        both[1] += row.ours
    for (panel, x), by_window in sums.items():
        published, ours = (
            100 * (slow / fast - 1) for slow, fast in zip(*(by_window[iw] for iw in WINDOWS), strict=True)
        )
        yield Row(
            what=f"{panel} {x}: gain of IW 10 over 3, {shaper}",
            unit="%",
            published=published,
            ours=ours,
            place=Place(f"{panel}: gain of IW 10 over 3, {shaper}", "gain", x),
        )


def by_experiment(wanted: str) -> list[tuple[str, list[Transfer]]]:
    """Cells of an experiment, each with its name and the files that it fetches."""
    points: dict[str, list[tuple[float, float]]] = {
        "RTT": [(KBPS, float(rtt)) for rtt in RTTS_MS],
        "bandwidth": [(float(kbps), RTT_MS) for kbps in BANDWIDTHS_KBPS],
        "BDP": [(bdp * 8 / RTT_MS, RTT_MS) for bdp in BDPS_BYTES],
    }
    if wanted == "segments":
        return [
            (f"{count} segments, IW {iw}", [file_transfer(KBPS, RTT_MS, iw, count * SEGMENT_BYTES)])
            for count in SEGMENTS
            for iw in WINDOWS
        ]
    return [
        (
            f"{wanted}: {kbps:g} kbps, {rtt:g} ms, IW {iw}",
            [file_transfer(kbps, rtt, iw, size) for size in SEARCH_BYTES],
        )
        for kbps, rtt in points[wanted]
        for iw in WINDOWS
    ]


def whole_grid() -> list[list[Transfer]]:
    """The 60 cells that the rerun's text reports: 6 RTTs, 11 bandwidths, 6 BDPs and 7 sizes, at two windows each.

    The text names three points of the paper as left out: 56 kbps, 3000 ms, and above 3000 ms, 66 cells in all.
    """
    return [files for name in ("RTT", "bandwidth", "BDP", "segments") for _, files in by_experiment(name)]


def gain_rows(lab: Lab) -> list[Row]:
    """Mean gains of IW 10 over IW 3 for the search page's objects, by RTT and BDP; none are published."""
    networks = [(KBPS, float(rtt)) for rtt in RTTS_MS]
    networks += [(bdp * 8 / RTT_MS, RTT_MS) for bdp in BDPS_BYTES]
    names = [f"RTT {rtt} ms" for rtt in RTTS_MS] + [f"BDP {bdp:,} B" for bdp in BDPS_BYTES]
    wanted = [
        file_transfer(*place, iw, size) for place in networks for iw in WINDOWS for size in SEARCH_BYTES
    ]
    times = transfer(lab, wanted, shaper="netem", congestion_control=CONGESTION_CONTROL)
    each = len(SEARCH_BYTES)
    sums = [sum(one.seconds for one in times[at : at + each]) for at in range(0, len(times), each)]
    return [gain(name, sums[2 * n : 2 * n + 2]) for n, name in enumerate(names)]


def gain(name: str, both: Sequence[float]) -> Row:
    """A row with the gain as in the rerun's figures: time at IW 3 over time at IW 10, less 1."""
    before, after = both
    panel, x = name.split(" ", 1)
    return Row(
        what=f"{name}: gain of IW 10 over 3",
        unit="%",
        ours=100 * (before / after - 1),
        place=Place(f"Fig 5, {panel}: gain of IW 10 over 3, netem's own rate", "gain", x),
    )
