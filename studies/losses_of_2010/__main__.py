"""Load web search of 2010 over lines of one cause of loss each, and write mixtures.csv: every mixture of two
kinds of lines that meets the paper at IW 3, and what it sends again more at IW 10.

A policer drops of a burst what a queue drops that holds the policer's bucket, so that a shallow queue stands
for both; only delays differ.
"""

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from firstflight.commands.replay.lab import find_lab
from firstflight.settings import from_environment
from replay.backcast.calibration import DEEP_QUEUE_BYTES, PAGES, SHAPES
from replay.backcast.measure import Inputs, Rows, measure, weights_of
from replay.backcast.published import (
    BASE,
    DATA_CENTERS,
    EXPERIMENT,
    RESPONSES,
    RETRANSMITTED,
    DataCenter,
)
from replay.backcast.services import pages
from replay.lab.guest_process import Lab
from replay.networks.profiles import FRAME_BYTES
from studies.csv_table import write_table
from verdict.calibration import FACTOR, SHIPPED

QUEUE_PACKETS = (3, 4, 5, 6, 8, 10, 12)
"""Queues, or buckets, of the lines that drop bursts."""

BURSTS = (1.0, 2.0, 4.0)
"""Mean numbers of packets that lines with random losses lose together."""

HEAD = (
    "queue_packets",
    "burst",
    "center",
    "share_shallow_percent",
    "random_loss_percent",
    "segments_3_percent",
    "responses_3_percent",
    "more_segments_10_pp",
    "more_responses_10_pp",
    "is_exact_at_3",
    "is_met",
)


@dataclass(frozen=True, slots=True)
class Kind:
    """What search sends again over one kind of lines: pooled sums by window, weighted by network."""

    sums: Mapping[int, np.ndarray[tuple[int], np.dtype[np.float64]]]
    """Segments sent again, segments, responses with any, responses."""

    def shares(self, window: int) -> tuple[float, float]:
        """Return segments sent again and responses with any, in percent."""
        again, sent, touched, responses = self.sums[window]
        return 100 * again / sent, 100 * touched / responses


@dataclass(frozen=True, slots=True)
class Mixture:
    """Lines with a shallow queue, and lines that lose at random alone."""

    shallow: float
    """Share of the lines."""
    random: float
    """Random losses over those that the kind was loaded with."""
    at: Mapping[int, tuple[float, float]]
    """Segments sent again and responses with any by window, in percent."""
    is_exact: bool
    """Whether it meets both of the paper's quantities at IW 3."""


def kind_of(rows: Rows, center: DataCenter) -> Kind:
    """Sum loads by window."""
    names = ("segments_retransmitted", "segments_sent", "responses_own_retransmitted", "responses")
    sums = {}
    for window in (BASE, EXPERIMENT):
        done = [row for row in rows if row["iw"] == window and row["state"] == "done"]
        weights = weights_of(done, center)
        sums[window] = np.array([weights @ np.array([row[name] for row in done], float) for name in names])
    return Kind(sums)


def mix(shallow: Kind, random: Kind, center: DataCenter) -> Mixture:
    """Return the mixture that meets the paper at IW 3, or the one kind of the two that comes nearer to it."""
    target = np.array([RETRANSMITTED[center, "search"][BASE], RESPONSES[center, "search"][BASE]])
    kinds = np.array([shallow.shares(BASE), random.shares(BASE)]).T / target[:, None]
    shares, *_ = np.linalg.lstsq(kinds, np.ones(2))
    is_exact = bool((shares >= 0).all() and shares[0] <= 1 and np.allclose(kinds @ shares, 1))
    if not is_exact:
        nearest = kinds.sum(axis=0) / np.maximum((kinds**2).sum(axis=0), np.finfo(float).tiny)
        alone = np.diag(np.minimum(nearest, (1, np.inf)))
        shares = min(alone, key=lambda each: float(((kinds @ each - 1) ** 2).sum()))
    at = {
        window: tuple(
            float(each) for each in np.array([shallow.shares(window), random.shares(window)]).T @ shares
        )
        for window in (BASE, EXPERIMENT)
    }
    return Mixture(float(shares[0]), float(shares[1]), at, is_exact)  # type: ignore[arg-type]


def is_met(ours: float, published: float) -> bool:
    """Return whether a rise is within FACTOR of the published one."""
    return published / FACTOR <= ours <= published * FACTOR


def measure_kinds(lab: Lab, inputs: Inputs, center: DataCenter) -> tuple[dict[int, Kind], dict[float, Kind]]:
    """Load search over lines with each shallow queue, and over lines with each burst of random losses."""
    recipes = pages("search", SHAPES["search"][0], PAGES["search"])

    def load(**changes: object) -> Kind:
        own = replace(inputs, **changes)  # type: ignore[arg-type]
        return kind_of(measure(lab, center, recipes, own, windows=(BASE, EXPERIMENT)), center)

    nothing = dict.fromkeys(DATA_CENTERS, 0.0)
    return (
        {
            packets: load(loss=nothing, burst=1.0, queue_bytes=packets * FRAME_BYTES)
            for packets in QUEUE_PACKETS
        },
        {burst: load(burst=burst, queue_bytes=DEEP_QUEUE_BYTES) for burst in BURSTS},
    )


def rows_of(lab: Lab, inputs: Inputs) -> Iterator[tuple[object, ...]]:
    for center in DATA_CENTERS:
        shallow, random = measure_kinds(lab, inputs, center)
        rises = RETRANSMITTED[center, "search"][EXPERIMENT] - RETRANSMITTED[center, "search"][BASE]
        for packets, burst in itertools.product(shallow, random):
            mixture = mix(shallow[packets], random[burst], center)
            segments, responses = mixture.at[BASE]
            more, more_responses = (
                after - before for before, after in zip(mixture.at[BASE], mixture.at[EXPERIMENT], strict=True)
            )
            yield (
                packets,
                f"{burst:g}",
                center,
                f"{100 * mixture.shallow:.1f}",
                f"{100 * mixture.random * inputs.loss[center]:.2f}",
                f"{segments:.2f}",
                f"{responses:.2f}",
                f"{more:.2f}",
                f"{more_responses:.2f}",
                "yes" if mixture.is_exact else "no",
                "yes" if is_met(more, rises) else "no",
            )


def main() -> None:
    """Load every kind of lines over the rates that the shipped back-cast was calibrated to."""
    shipped = json.loads(SHIPPED.read_text(encoding="utf-8"))["inputs"]
    inputs = Inputs(
        **{name: value for name, value in shipped.items() if name not in ("shapes", "backend_ms")}
    )
    rows = list(rows_of(find_lab(from_environment().cache_dir), replace(inputs, shallow_share=0.0)))
    write_table(Path(__file__).with_name("mixtures.csv"), HEAD, rows)
    for row in rows:
        print(*row)


if __name__ == "__main__":
    main()
