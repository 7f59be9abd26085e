"""The background: other people's flows at the bottleneck, short ones and large ones,
at a share of its rate."""

import math
from dataclasses import dataclass
from statistics import fmean

LOAD = 0.05
"""Share of the bottleneck that the background asks for. Our choice: enough that seeds differ, and little
enough that the page decides its own time.
"""

SHORT_SIZES = (380, 590, 920, 1410, 2280, 3720, 7090, 18_673)
"""Sizes of the short flows, in bytes, all equally likely: deciles 20 to 90 of the 2010 paper's Fig 1."""

SHORT_FLOWS_BPS = 2_000_000
"""Rate up to which a bottleneck has short flows alone, so that neither the number of flows nor the price of a
load grows with it. Our choice: the lines of the 2010 paper's time.
"""

TAIL = 1.2
"""Exponent of the large flows' bounded Pareto distribution. Sizes of Web transfers have tails with exponents
of 1 to 1.3 (M. Crovella and A. Bestavros, Self-Similarity in World Wide Web Traffic, IEEE/ACM Transactions on
Networking 5(6), 1997)."""

LEAST_S, MOST_S = 0.001, 0.1
"""Bounds of the large flows' sizes, as time at the bottleneck's rate; no flow is smaller than the largest
short one. Our choice: the largest alone delays a page by no more than a tenth of a second."""


@dataclass(frozen=True, slots=True)
class Background:
    """Two Poisson processes of flows, and the bounds of the large flows' sizes."""

    short_per_s: float
    large_per_s: float
    least_bytes: int
    most_bytes: int

    @property
    def flows_per_s(self) -> float:
        return self.short_per_s + self.large_per_s

    @property
    def large_bytes(self) -> float:
        return pareto_mean(self.least_bytes, self.most_bytes)

    @property
    def bytes_per_s(self) -> float:
        return self.short_per_s * fmean(SHORT_SIZES) + self.large_per_s * self.large_bytes

    def __str__(self) -> str:
        return f"{self.short_per_s:.6f} {self.large_per_s:.6f} {self.least_bytes} {self.most_bytes}"


def background(load: float, down_bps: int) -> Background:
    """Return the background that asks for the share `load` of a bottleneck.

    >>> flows = background(0.05, 1_000_000_000)
    >>> round(flows.short_per_s, 1), round(flows.large_per_s, 1), round(8 * flows.bytes_per_s)
    (2.9, 13.8, 50000000)
    """
    least = max(SHORT_SIZES[-1], round(LEAST_S * down_bps / 8))
    most = max(least, round(MOST_S * down_bps / 8))
    short_bps = min(down_bps, SHORT_FLOWS_BPS)
    return Background(
        short_per_s=load * short_bps / (8 * fmean(SHORT_SIZES)),
        large_per_s=load * (down_bps - short_bps) / (8 * pareto_mean(least, most)),
        least_bytes=least,
        most_bytes=most,
    )


def pareto_mean(least: float, most: float) -> float:
    """Return the mean of a Pareto distribution with exponent TAIL between two bounds.

    >>> pareto_mean(1000, 1000), round(pareto_mean(1000, 100_000))
    (1000.0, 3626)
    """
    if least == most:
        return float(least)
    share = least / most
    return least * TAIL / (TAIL - 1) * (1 - math.pow(share, TAIL - 1)) / (1 - math.pow(share, TAIL))
