"""Calibration of the back-cast's inputs by the paper's figures at IW 3 alone;
no load at IW 10 is made here."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from replay.backcast.measure import (
    Inputs,
    Rows,
    latencies_ms,
    mean_and_quantiles,
    measure,
    responses_percent,
    segments_percent,
)
from replay.backcast.published import (
    BASE,
    DATA_CENTERS,
    LATENCY,
    RESPONSES,
    RETRANSMITTED,
    SERVICES,
    DataCenter,
    Service,
)
from replay.backcast.services import Shape, pages
from replay.lab.guest_process import Lab
from replay.runs.guests import GuestProgress

SHAPES: dict[Service, tuple[Shape, ...]] = {
    "search": (Shape(1, 1),),
    "maps": (Shape(12, 4), Shape(12, 8), Shape(12, 16)),
    "photos": (Shape(2, 4), Shape(2, 16), Shape(6, 2), Shape(6, 8)),
}
"""Shapes to choose from. The paper says that Maps opens a dozen connections; the rest is ours."""

RATE_FACTORS = (1.0, 1.5, 2.0, 3.0)
BURSTS = (1.0, 2.0, 4.0)
DEEP_QUEUE_BYTES = 131_072
"""Queue of the networks without a shallow one.

Over the networks of 2010 one of 256 kB loses no less, but for the largest pages.
"""

SHALLOW_SHARES = (0.0, 0.2, 0.4)

ROUNDS = 2
"""Rounds of rates and losses: each changes latencies and losses that the other was chosen by."""

PAGES: dict[Service, int] = {"search": 24, "maps": 6, "photos": 6}
"""Pages of each service. With 8 of search, the loss that they ask for makes 24 send a fifth too little again.
With two of Maps, what a session sends again depends on one tile of 260 kB: 2.3 or 4.5 %."""

MEDIAN = 1


@dataclass(frozen=True, slots=True)
class Tried:
    """Inputs that were tried for a service, and how far from the paper they come at IW 3."""

    service: Service
    shape: Shape
    inputs: Inputs
    segments: Mapping[DataCenter, float]
    responses: Mapping[DataCenter, float]

    @property
    def error(self) -> float:
        """Mean absolute logarithm of the ratio to the paper's figures."""
        return sum(
            distance(self.segments[center], RETRANSMITTED[center, self.service][BASE])
            + distance(self.responses[center], RESPONSES[center, self.service][BASE])
            for center in DATA_CENTERS
        ) / (2 * len(DATA_CENTERS))


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Inputs that come nearest to the paper at IW 3."""

    inputs: Inputs
    shapes: Mapping[Service, Shape]
    backend_ms: Mapping[DataCenter, float]
    tried: tuple[Tried, ...]


def distance(ours: float, published: float) -> float:
    """Return the absolute logarithm of a ratio; large for zero.

    >>> distance(2, 1) == distance(1, 2), distance(0, 1) > 5
    (True, True)
    """
    return abs(math.log(max(ours, 1e-3 * published) / published))


@dataclass(frozen=True, slots=True)
class Calibration:
    """Loads at IW 3, and the choices that they lead to."""

    lab: Lab
    progress: GuestProgress | None = None

    def load(self, center: DataCenter, service: Service, shape: Shape, inputs: Inputs) -> Rows:
        recipes = pages(service, shape, PAGES[service])
        return measure(self.lab, center, recipes, inputs, windows=[BASE], progress=self.progress)

    def load_search(self, center: DataCenter, inputs: Inputs) -> Rows:
        return self.load(center, "search", SHAPES["search"][0], inputs)

    def choose_rates(self, inputs: Inputs) -> Inputs:
        """Choose the factor of the rates whose latencies come nearest to the paper's mean and quantiles."""
        chosen = {}
        for center in DATA_CENTERS:
            errors = {}
            for factor in RATE_FACTORS:
                trial = dataclasses.replace(inputs, rate_factor={**inputs.rate_factor, center: factor})
                _, errors[factor] = self.fit_latency(center, trial, self.load_search(center, trial))
            chosen[center] = min(errors, key=errors.__getitem__)
        return dataclasses.replace(inputs, rate_factor=chosen)

    def fit_latency(self, center: DataCenter, inputs: Inputs, rows: Rows) -> tuple[float, float]:
        """Return the time of the back end that makes the median the paper's, and the error of mean and other
        quantiles.
        """
        published = LATENCY[center, BASE]
        mean, quantiles = mean_and_quantiles(*latencies_ms(rows, center, inputs, BASE))
        backend = max(0.0, published.quantiles[MEDIAN] - quantiles[MEDIAN])
        return backend, sum(
            distance(backend + ours, theirs)
            for ours, theirs in zip((mean, *quantiles), (published.mean, *published.quantiles), strict=True)
        )

    def choose_losses(self, inputs: Inputs) -> Inputs:
        """Choose the loss that makes search send as much again as in the paper: a loss costs a segment
        more."""
        loss = {}
        for center in DATA_CENTERS:
            again = segments_percent(self.load_search(center, inputs), center, BASE)
            lacking = RETRANSMITTED[center, "search"][BASE] - again
            loss[center] = min(max(0.0, inputs.loss[center] + lacking / 100), 0.2)
        return dataclasses.replace(inputs, loss=loss)

    def try_shape(self, service: Service, shape: Shape, inputs: Inputs) -> Tried:
        rows = {center: self.load(center, service, shape, inputs) for center in DATA_CENTERS}
        return Tried(
            service,
            shape,
            inputs,
            {center: segments_percent(loads, center, BASE) for center, loads in rows.items()},
            {center: responses_percent(loads, center, BASE) for center, loads in rows.items()},
        )


def calibrate(lab: Lab, progress: GuestProgress | None = None) -> Calibrated:
    calibration = Calibration(lab, progress)
    whole = {center: RETRANSMITTED[center, "search"][BASE] / 100 for center in DATA_CENTERS}
    lossy = Inputs(dict.fromkeys(DATA_CENTERS, 1.0), whole, 1.0, DEEP_QUEUE_BYTES)
    bursts: list[Tried] = []
    for _ in range(ROUNDS):
        rated = calibration.choose_rates(lossy)
        bursts = [
            calibration.try_shape(
                "search",
                SHAPES["search"][0],
                calibration.choose_losses(dataclasses.replace(rated, burst=burst)),
            )
            for burst in BURSTS
        ]
        lossy = nearest(bursts).inputs
    tried: list[Tried] = []
    best: dict[float, list[Tried]] = {}
    for share in SHALLOW_SHARES:
        # Shallow queues lose packets of search too, so that less of its loss is random.
        trial = calibration.choose_losses(dataclasses.replace(lossy, shallow_share=share))
        trials = {
            service: [calibration.try_shape(service, shape, trial) for shape in shapes]
            for service, shapes in SHAPES.items()
        }
        tried += [trial for service in SERVICES for trial in trials[service]]
        best[share] = [nearest(trials[service]) for service in SERVICES]
    chosen = min(best.values(), key=lambda trials: sum(trial.error for trial in trials))
    inputs = chosen[0].inputs
    return Calibrated(
        inputs=inputs,
        shapes={trial.service: trial.shape for trial in chosen},
        backend_ms={
            center: calibration.fit_latency(center, inputs, calibration.load_search(center, inputs))[0]
            for center in DATA_CENTERS
        },
        tried=(*bursts, *tried),
    )


def nearest(tried: Sequence[Tried]) -> Tried:
    return min(tried, key=lambda trial: trial.error)


def count_loads() -> int:
    of_search = ROUNDS * (len(RATE_FACTORS) + 2 * len(BURSTS)) + len(SHALLOW_SHARES) + 1
    of_shapes = sum(PAGES[service] * len(shapes) for service, shapes in SHAPES.items())
    return 64 * len(DATA_CENTERS) * (PAGES["search"] * of_search + len(SHALLOW_SHARES) * of_shapes)
