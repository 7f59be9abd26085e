"""The distribution of servers' initial windows, which packets bound rather than tell: interval-censored data.

A window that is exact is not so at random: of large windows, in clear text and to long responses it is more
often than of small ones after a TLS flight. So the distribution is estimated from all bounds together, by the
nonparametric maximum likelihood of Turnbull (1976), the distribution under which what was seen is the
likeliest: apart for TLS and clear text, whose bounds differ in kind. What is left open stays open: a share
belongs to an interval of windows, and a cumulative share lies between two bounds.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import duckdb
import numpy as np

Kind = Literal["tls", "clear", "all"]

Bounds = tuple[int, int | None]
"""Least and most of a window in segments."""

STEPS = 10_000
"""Most steps of the estimate."""
CHANGE = 1e-7
"""Largest change of a share in a step at which the estimate ends."""

# Connections of which packets could tell something: over TCP, with a response,
# in a release of a crawl with a capture.
SEEN = """
SELECT tls_version IS NOT NULL AS is_tls, initial_window_segments, initial_window_most_segments, count(*)
FROM connection SEMI JOIN studied USING (visit_id)
WHERE response_count > 0 AND protocol <> 'h3' AND (initial_window_segments IS NOT NULL OR initial_window_unknown IS NOT NULL)
GROUP BY ALL ORDER BY ALL
"""  # noqa: E501


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowShare:
    """A share of the connections whose window lies between two bounds, in segments."""

    least: int
    """In full segments."""
    most: int | None
    """None if nothing bounds it."""
    share: float
    """Of the connections of which something is known."""

    @property
    def label(self) -> str:
        """The windows in words.

        >>> [WindowShare(least=4, most=most, share=1.0).label for most in (4, 10, None)]
        ['4', '4 to 10', '4 and more']
        """
        if self.most is None:
            return f"{self.least} and more"
        return str(self.least) if self.most == self.least else f"{self.least} to {self.most}"


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowDistribution:
    """Initial windows of TCP connections."""

    exact: int
    bounded: int
    """Connections with two bounds that differ."""
    at_least: int
    unknown: int
    """Connections of which nothing is known, left out."""
    shares: tuple[WindowShare, ...]
    """By interval, ascending."""

    @property
    def known(self) -> int:
        return self.exact + self.bounded + self.at_least

    def at_most(self, window: int) -> tuple[float, float]:
        """Return the least and the most that the share of windows up to `window` segments can be."""
        return (
            math.fsum(
                share.share for share in self.shares if share.most is not None and share.most <= window
            ),
            math.fsum(share.share for share in self.shares if share.least <= window),
        )


def window_distributions(database: duckdb.DuckDBPyConnection) -> dict[Kind, WindowDistribution]:
    """Return distributions of `tls`, `clear` and `all` connections, where there are any.

    `database` has the views of `releases.measures.open_tables`. `all` is the mean of the other two by
    their connections.
    """
    counts: dict[Kind, dict[Bounds | None, int]] = {}
    for is_tls, least, most, count in database.execute(SEEN).fetchall():
        bounds = None if least is None else (least, most)
        counts.setdefault("tls" if is_tls else "clear", {})[bounds] = count
    apart = {name: distribution(counts) for name, counts in sorted(counts.items())}
    return apart | ({"all": _together(list(apart.values()))} if apart else {})


def distribution(counts: Mapping[Bounds | None, int]) -> WindowDistribution:
    """Return the distribution of connections by bounds; None for those of which nothing is known."""
    known = {bounds: count for bounds, count in counts.items() if bounds is not None}
    return WindowDistribution(
        exact=sum(count for (least, most), count in known.items() if most == least),
        bounded=sum(count for (least, most), count in known.items() if most not in (None, least)),
        at_least=sum(count for (_, most), count in known.items() if most is None),
        unknown=counts.get(None, 0),
        shares=tuple(likeliest_shares(known)),
    )


def likeliest_shares(counts: Mapping[Bounds, int]) -> list[WindowShare]:
    """Return the shares of Turnbull's estimate, each of an innermost interval.

    >>> [(one.least, one.most, round(one.share, 3)) for one in likeliest_shares({(10, 10): 3, (4, 10): 1, (30, None): 1})]
    [(10, 10, 0.8), (30, None, 0.2)]
    """  # noqa: E501
    if not counts:
        return []
    innermost = _innermost(counts)
    begins, ends = (np.array([_number(bounds[n]) for bounds in innermost]) for n in (0, 1))
    least, most = (np.array([_number(bounds[n]) for bounds in counts]) for n in (0, 1))
    holds = ((least[:, None] <= begins) & (ends <= most[:, None])).astype(np.float64)
    weights = np.array(list(counts.values()), np.float64) / sum(counts.values())
    shares = np.full(len(innermost), 1 / len(innermost))
    for _ in range(STEPS):
        improved = shares * (holds.T @ (weights / (holds @ shares)))
        change, shares = np.abs(improved - shares).max(), improved
        if change < CHANGE:
            break
    return [
        WindowShare(least=least, most=most, share=float(share))
        for (least, most), share in zip(innermost, shares, strict=True)
        if share > CHANGE
    ]


def _number(bound: int | None) -> float:
    return math.inf if bound is None else bound


def _innermost(counts: Iterable[Bounds]) -> list[Bounds]:
    """Return intervals from a lower bound to the next upper one with no other between: the likeliest
    shares lie in these alone.
    """
    ends = [(_number(bound), is_upper) for bounds in counts for is_upper, bound in enumerate(bounds)]
    intervals: list[Bounds] = []
    begin = 1.0
    for bound, is_upper in sorted(set(ends)):
        if not is_upper:
            begin = bound
        elif not intervals or begin > intervals[-1][0]:
            intervals.append((int(begin), None if math.isinf(bound) else int(bound)))
    return intervals


def _together(parts: Sequence[WindowDistribution]) -> WindowDistribution:
    known = sum(part.known for part in parts)
    shares: dict[Bounds, float] = {}
    for part in parts:
        for share in part.shares:
            bounds = (share.least, share.most)
            shares[bounds] = shares.get(bounds, 0.0) + share.share * part.known / known
    return WindowDistribution(
        exact=sum(part.exact for part in parts),
        bounded=sum(part.bounded for part in parts),
        at_least=sum(part.at_least for part in parts),
        unknown=sum(part.unknown for part in parts),
        shares=tuple(
            WindowShare(least=least, most=most, share=share)
            for (least, most), share in sorted(shares.items(), key=lambda item: tuple(map(_number, item[0])))
        ),
    )
