"""The back-cast's published figures beside ours, each with the factor between them,
and the gate that they make."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np

from replay.backcast.calibration import Calibrated
from replay.backcast.experiment import Experiment
from replay.backcast.measure import latencies_ms, mean_and_quantiles, responses_percent, segments_percent
from replay.backcast.published import (
    BASE,
    DATA_CENTERS,
    EXPERIMENT,
    LATENCY,
    QUANTILES,
    RESPONSES,
    RETRANSMITTED,
    SERVICES,
    DataCenter,
    mix,
)

FACTOR = 2.0
"""Largest factor between a published figure and ours.

Ours, as for the reproduction of Baidu's gains; fixed before the first run.
"""

Half = Literal["calibration", "judgement"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A published figure and ours."""

    what: str
    unit: str
    half: Half
    decides: bool
    """True if the gate asks for it: the mean gains and what all services together send again."""
    published: float
    ours: float

    @property
    def factor(self) -> float | None:
        """Ours over the published one; None if they differ in sign."""
        return self.ours / self.published if self.ours * self.published > 0 else None

    @property
    def is_met(self) -> bool:
        """True if the factor is within FACTOR either way."""
        return self.factor is not None and 1 / FACTOR <= self.factor <= FACTOR

    def to_dict(self) -> dict[str, Any]:
        """The figure as JSON, with its factor and verdict."""
        return {**dataclasses.asdict(self), "factor": self.factor, "is_met": self.is_met}


def figures_of(found: Experiment, calibrated: Calibrated) -> Iterator[Figure]:
    """Yield all published figures: those at IW 3 first, then what changed at IW 10."""
    for center in DATA_CENTERS:
        base = _latency(found, calibrated, center, BASE)
        experiment = _latency(found, calibrated, center, EXPERIMENT)
        published = LATENCY[center, BASE], LATENCY[center, EXPERIMENT]
        levels = {iw: _levels(found, center, iw) for iw in (BASE, EXPERIMENT)}
        yield _figure(
            f"{center}: mean latency of search at IW 3", "ms", "calibration", published[0].mean, base[0]
        )
        for name, level in levels[BASE].items():
            yield _figure(
                f"{center}, {name}: segments sent again at IW 3",
                "%",
                "calibration",
                RETRANSMITTED[center, name][BASE],  # type: ignore[index]  # its own names
                level,
            )
        yield from _responses(found, center)
        yield _figure(
            f"{center}: mean gain of search",
            "%",
            "judgement",
            _gain(published[0].mean, published[1].mean),
            _gain(base[0], experiment[0]),
            decides=True,
        )
        for at, share in enumerate(QUANTILES):
            yield _figure(
                f"{center}: gain of search at p{100 * share:g}",
                "%",
                "judgement",
                _gain(published[0].quantiles[at], published[1].quantiles[at]),
                _gain(base[1][at], experiment[1][at]),
            )
        for name, level in levels[EXPERIMENT].items():
            both = RETRANSMITTED[center, name]  # type: ignore[index]  # its own names
            yield _figure(
                f"{center}, {name}: more segments sent again at IW 10",
                "pp",
                "judgement",
                both[EXPERIMENT] - both[BASE],
                level - levels[BASE][name],
                decides=name == "all",
            )


def _responses(found: Experiment, center: DataCenter) -> Iterator[Figure]:
    for service in SERVICES:
        published = RESPONSES[center, service]
        ours = {iw: responses_percent(found[center, service], center, iw) for iw in (BASE, EXPERIMENT)}
        name = f"{center}, {service}"
        yield _figure(f"{name}: responses with any at IW 3", "%", "calibration", published[BASE], ours[BASE])
        yield _figure(
            f"{name}: more responses with any at IW 10",
            "pp",
            "judgement",
            published[EXPERIMENT] - published[BASE],
            ours[EXPERIMENT] - ours[BASE],
        )


def _figure(
    what: str, unit: str, half: Half, published: float, ours: float, *, decides: bool = False
) -> Figure:
    return Figure(what=what, unit=unit, half=half, decides=decides, published=published, ours=ours)


def _gain(before: float, after: float) -> float:
    """Share of `before` that is saved, in percent."""
    return 100 * (before - after) / before


def _latency(
    found: Experiment, calibrated: Calibrated, center: DataCenter, iw: int
) -> tuple[float, tuple[float, ...]]:
    values, weights = latencies_ms(found[center, "search"], center, calibrated.inputs, iw)
    return mean_and_quantiles(values + np.float64(calibrated.backend_ms[center]), weights)


def _levels(found: Experiment, center: DataCenter, iw: int) -> Mapping[str, float]:
    levels: dict[str, float] = {
        service: segments_percent(found[center, service], center, iw) for service in SERVICES
    }
    return {**levels, "all": sum(share * levels[service] for service, share in mix().items())}
