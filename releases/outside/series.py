"""The outside series that firstflight knows, by `series.toml`, and their publisher's own breaks."""

import dataclasses
from pathlib import Path
from typing import Literal

import msgspec

Statistic = Literal["p10", "p25", "p50", "p75", "p90", "share"]

QUANTILES: tuple[Statistic, ...] = ("p10", "p25", "p50", "p75", "p90")
STATISTICS: tuple[Statistic, ...] = (*QUANTILES, "share")

FIT_BYTES = 14_600
"""Size up to which pervasive resources fit: an initial window of 10 segments of 1,460 bytes."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """What a series counts, and whence it is."""

    # Stable: stored with imported data, and part of URLs.
    id: str
    title: str
    unit: str
    definition: str
    source: str
    licence: str
    spdx: str
    url: str
    is_yearly: bool = False
    """True for single points of yearly chapters, which nothing joins."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Break:
    """A change of the publisher's method, after which values are not comparable with those before."""

    date: str
    text: str
    clients: tuple[str, ...] = ("desktop", "mobile", "both")
    is_yearly_too: bool = False
    series: tuple[str, ...] = ()
    """Series that it parts; all if empty."""
    lost_until: str = ""
    """Last date whose values were lost, of a break that begins a loss: zeros in the source."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """The content of `series.toml`."""

    changelog: str
    series: tuple[Kind, ...]
    breaks: tuple[Break, ...]


KNOWN = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=Known)

KINDS = {kind.id: kind for kind in KNOWN.series}

BREAKS = KNOWN.breaks

CHANGELOG = KNOWN.changelog


def is_lost(series: str, client: str, date: str) -> bool:
    return any(
        break_.date <= date <= break_.lost_until and client in break_.clients and series in break_.series
        for break_ in BREAKS
    )
