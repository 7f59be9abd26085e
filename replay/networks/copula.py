"""The 2010 paper's two populations: Figure 3's distributions of bandwidth and RTT,
joined by a Gaussian copula."""

import bisect
import csv
import functools
from collections.abc import Sequence
from pathlib import Path
from statistics import NormalDist

from replay.networks.profiles import QUEUE_BYTES, Population, Profile

FIG3 = Path(__file__).with_name("paper_fig3_percentiles.csv")
"""Percentiles of bandwidth and RTT, digitised from the vector figure (within 0.3 %)."""

SOURCE = (
    "Dukkipati et al., An Argument for Increasing TCP's Initial Congestion Window, "
    "ACM SIGCOMM CCR 40(3), 2010"
)

RHOS = {"AvgDC": -0.6, "SlowDC": -0.4}
"""Correlation of the normal scores of bandwidth and RTT by data centre, fitted to Fig 5's BDP panel only."""

PAPER = "Dukkipati et al., An Argument for Increasing TCP's Initial Congestion Window (2010), Fig 3"


Curve = tuple[tuple[float, ...], tuple[float, ...]]


@functools.cache
def fig3(quantity: str, data_center: str) -> Curve:
    return read_curve(FIG3, "value", quantity=quantity, dc=data_center)


def read_curve(path: Path, column: str, **kind: str) -> Curve:
    """Return the cumulative shares and the values of a curve, in the rows of `kind`."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if kind.items() <= row.items()]
    return tuple(float(row["cdf"]) for row in rows), tuple(float(row[column]) for row in rows)


def quantile(quantity: str, data_center: str, share: float) -> float:
    return interpolate(*fig3(quantity, data_center), share)


def interpolate(shares: Sequence[float], values: Sequence[float], share: float) -> float:
    """Return the value at `share`, linear between points and beyond the ends."""
    after = min(max(bisect.bisect_left(shares, share), 1), len(shares) - 1)
    before = after - 1
    part = (share - shares[before]) / (shares[after] - shares[before])
    return values[before] + part * (values[after] - values[before])


def conditional_median_share(share: float, *, rho: float) -> float:
    """Return the cumulative share of the median RTT at a cumulative share of the bandwidths.

    Under a Gaussian copula, the conditional median of the RTT's normal score is `rho` times the bandwidth's.

    >>> round(conditional_median_share(0.5, rho=-0.6), 3), round(conditional_median_share(1 / 6, rho=-0.6), 3)
    (0.5, 0.719)
    """
    normal = NormalDist()
    return normal.cdf(rho * normal.inv_cdf(share))


def from_fig3(id: str, data_center: str, share: float, *, rho: float) -> Profile:  # noqa: A002  # the field's name
    """Return the profile at a cumulative share of the bandwidths, with the median RTT there."""
    down_kbps = quantile("bw_kbps", data_center, share)
    rtt_ms = quantile("rtt_ms", data_center, conditional_median_share(share, rho=rho))
    return Profile(
        id=id,
        down_bps=round(down_kbps) * 1000,
        up_bps=max(round(down_kbps / 4) * 1000, 128_000),
        rtt_us=round(rtt_ms * 10) * 100,
        queue_bytes=QUEUE_BYTES,
        source=f"{PAPER}, {data_center}: bandwidth at {share:.1%}, median RTT given it by a Gaussian copula "
        f"with rho {rho} fitted to Fig 5's shares; uplink a quarter and queue ours",
    )


PAPER_PROFILES: tuple[Profile, ...] = (
    from_fig3("avgdc-2010-low", "AvgDC", 1 / 6, rho=-0.6),
    from_fig3("avgdc-2010-mid", "AvgDC", 1 / 2, rho=-0.6),
    from_fig3("avgdc-2010-high", "AvgDC", 5 / 6, rho=-0.6),
    from_fig3("slowdc-2010-median", "SlowDC", 1 / 2, rho=-0.4),
)

PAPER_POPULATIONS: tuple[Population, ...] = (
    Population(
        id="avgdc-2010",
        weights=(("avgdc-2010-low", 1 / 3), ("avgdc-2010-mid", 1 / 3), ("avgdc-2010-high", 1 / 3)),
        slow=False,
        measured="2010",
        source=f"{PAPER}, AvgDC: the medians of its bandwidth's terciles",
    ),
    Population(
        id="slowdc-2010",
        weights=(("slowdc-2010-median", 1.0),),
        slow=True,
        measured="2010",
        source=f"{PAPER}, SlowDC: its median alone",
    ),
)
