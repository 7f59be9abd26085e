"""Coverage of the simultaneous intervals: how often they hold the truth in simulated worlds,
of 1,000 repetitions."""

import dataclasses
import math
from typing import Literal

import numpy as np

from reports.statistics.bootstrap import Floats
from reports.statistics.simultaneous import page_means, simultaneous_intervals

Tails = Literal["normal", "t of 3 degrees", "log-normal, sigma 0.8", "log-normal, sigma 1"]

CANDIDATES = 6
REPLICATES = 1999
CONFIDENCE = 0.95

AIM = (0.935, 0.965)
"""Coverage that is aimed at for a stated 95 %."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """Gains of six candidates on pages that a population of pages gives."""

    pages: int
    seeds: int
    page_sd: float
    """Standard deviation of a page's own gain, in percent of page time."""
    seed_sd: float
    """Standard deviation of a seed's gain around its page's, in percent."""
    tails: Tails
    has_weights: bool = False
    """True if pages have weights between 0.2 and 5."""

    @property
    def title(self) -> str:
        """The world in words."""
        return (
            f"{self.pages} pages, {self.seeds} seed{'s' if self.seeds > 1 else ''}; pages {self.page_sd:g} "
            f"%, seeds {self.seed_sd:g} %; {self.tails}{', weighted' if self.has_weights else ''}"
        )


WORLDS: tuple[World, ...] = (
    World(pages=30, seeds=3, page_sd=1, seed_sd=3, tails="normal"),
    World(pages=30, seeds=10, page_sd=1, seed_sd=3, tails="normal"),
    World(pages=30, seeds=3, page_sd=5, seed_sd=1, tails="t of 3 degrees"),
    World(pages=30, seeds=3, page_sd=5, seed_sd=1, tails="log-normal, sigma 0.8"),
    World(pages=25, seeds=1, page_sd=5, seed_sd=3, tails="t of 3 degrees"),
    World(pages=25, seeds=1, page_sd=5, seed_sd=3, tails="log-normal, sigma 0.8"),
    World(pages=25, seeds=1, page_sd=5, seed_sd=1, tails="log-normal, sigma 1"),
    World(pages=100, seeds=1, page_sd=5, seed_sd=1, tails="log-normal, sigma 1"),
    World(pages=100, seeds=1, page_sd=5, seed_sd=3, tails="t of 3 degrees", has_weights=True),
    World(pages=500, seeds=1, page_sd=5, seed_sd=3, tails="log-normal, sigma 0.8"),
)
"""Few pages with seeds that differ, pages that differ with heavy tails, and 25 pages with one seed,
as harm cells have."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Coverage:
    """Shares of the repetitions in which intervals held the truth."""

    world: World
    repetitions: int
    one: float
    """One interval its mean."""
    all: float
    """Six simultaneous intervals all their means."""
    too_high: float
    """The lower end of one interval above the truth; 2.5 % aimed at."""
    too_low: float
    """The upper end of one interval below the truth; 2.5 % aimed at."""


def coverage(world: World, *, repetitions: int, replicates: int = REPLICATES) -> Coverage:
    """Count how often intervals of 95 % hold the truth, which is zero."""
    rng = np.random.Generator(np.random.PCG64([world.pages, world.seeds, repetitions]))
    one = together = too_high = too_low = 0
    # New draws for each repetition would cost more than they tell: they are of pages, not of the world.
    for repetition in range(repetitions):
        values = sample(world, rng)
        weights = rng.uniform(0.2, 5, size=world.pages) if world.has_weights else None
        found = page_means(values, seed=repetition % 10, replicates=replicates, weights=weights)
        together += all(each.lower <= 0 <= each.upper for each in found.intervals(CONFIDENCE))
        (alone,) = simultaneous_intervals(
            values[:, :1], CONFIDENCE, seed=repetition % 10, replicates=replicates, weights=weights
        )
        one += alone.lower <= 0 <= alone.upper
        too_high += alone.lower > 0
        too_low += alone.upper < 0
    return Coverage(
        world=world,
        repetitions=repetitions,
        one=one / repetitions,
        all=together / repetitions,
        too_high=too_high / repetitions,
        too_low=too_low / repetitions,
    )


def sample(world: World, rng: np.random.Generator) -> Floats:
    """Mean gain over seeds, [page, candidate], in percent; the truth is zero.

    Half of what pages and seeds vary by is common to all candidates,
    because the same page and traffic carry all.
    """
    own = draw(rng, world.tails, (world.pages, CANDIDATES)) + draw(rng, world.tails, (world.pages, 1))
    noise = rng.normal(size=(world.pages, CANDIDATES, world.seeds)) + rng.normal(
        size=(world.pages, 1, world.seeds)
    )
    found: Floats = (world.page_sd * own + world.seed_sd * noise.mean(axis=2)) / math.sqrt(2)
    return found


def draw(rng: np.random.Generator, tails: Tails, shape: tuple[int, ...]) -> Floats:
    """Numbers of mean 0 and standard deviation 1."""
    if tails == "normal":
        return rng.normal(size=shape)
    if tails == "t of 3 degrees":
        return rng.standard_t(3, size=shape) / math.sqrt(3)
    sigma = float(tails.split()[-1])
    mean, variance = math.exp(sigma**2 / 2), math.exp(sigma**2) * (math.exp(sigma**2) - 1)
    found: Floats = (rng.lognormal(sigma=sigma, size=shape) - mean) / math.sqrt(variance)
    return found
