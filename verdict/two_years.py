"""What a larger window does to the pages of two years over the same networks: results of studies/two_years
(docs/protocols/two-years.md)."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from recordings.pages.sets import AUGUST_2025
from releases.interval import Interval
from replay.runs.policy import PACED, Policy

RESULTS = Path(__file__).with_name("two-years.json")

YEARS = {2019: "wpt-2019-12", 2025: AUGUST_2025}

BEFORE, AFTER = YEARS

SAME, ALL = "same sites", "all pages"
"""Pages of sites that both years have, numbered alike; all pages."""

ALIKE = "same sites, recorders alike"
"""SAME without pauses of browsers and servers, all distances drawn: loaded after the first look."""

CANDIDATE = Policy(16, PACED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """The candidate's effect against the incumbent, or its difference between the years."""

    gain_percent: Interval
    resent_pp: Interval
    net_benefit_pp: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two years over the same networks."""

    of: Mapping[int, Worth]
    change: Worth
    counts: Mapping[int, int]
    networks: int
    pairs: int


@functools.cache
def comparison(pages: str = SAME) -> Comparison:
    """Return what the candidate does to both years' pages, and how much more in the later."""
    return msgspec.json.decode(RESULTS.read_bytes(), type=dict[str, Comparison])[pages]
