"""What fits over the years, of the recorded sets on the shelf: shares, and changes over the same sites."""

import collections
import dataclasses
import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from api.http.problems import suppress_problems
from api.routes.answers import AnswerModel
from api.routes.provenance import quality
from api.statistics.changes import read
from api.stored.months import Variant
from api.stored.open_releases import OpenReleases
from api.stored.shelf import Shelf, Version
from figures.findings import tell_change
from recordings.pages.same_sites import are_joined, recorded_on, sites_of, values_of
from recordings.pages.sets import SETS
from releases.catalogue import Release
from releases.changes import (
    RESPONSES,
    Change,
    ChangeMeasure,
    Selection,
    Share,
    Values,
    compare_values,
    pooled_shares,
)
from releases.slow_start import MSS_FIG1
from replay.backcast.published import SERVICE_LABELS, SERVICES
from replay.backcast.services import sizes

ASKED = Selection(mss=MSS_FIG1)

LEAST_MONTHS = 3
"""Months of a crawl of ours from which on it is shown."""

PICTURED = (3, 10, 30)
"""Windows of the figures, in segments."""

TABULATED = ("all", "main", "image")
"""Kinds of responses that the page's table has."""

BYTES_OF_A_CHANGE = 500
"""Memory that a change or a share takes, about."""


class YearsRow(AnswerModel):
    """A number of the page, with its interval where it has one."""

    what: str
    """`published`, `share`, `change`, `larger window`, or `larger window, change`."""
    responses: str | None = None
    """Kind of responses, or of pages; null for published curves."""
    measure: str
    iw: int | str | None = None
    """Window in segments, and `paced` behind it if it is; null for other measures."""
    end: str | None = None
    """What the sizes hold where a header was not counted."""
    list: str
    """List of the sites."""
    release: str
    """Release, recorded set or publication."""
    list_after: str | None = None
    """List of the later set of a change."""
    release_after: str | None = None
    sites: int | None = None
    value: float | None = None
    """The value; of a change that of the earlier set."""
    value_after: float | None = None
    change: float | None = None
    lower: float | None = None
    """Lower end of the confidence interval, of a change of that."""
    upper: float | None = None


def in_year(date: str) -> float:
    """A date as a year and its part that has passed; months count as twelfths.

    >>> in_year("2012"), in_year("2012-07"), round(in_year("2012-07-15"), 3)
    (2012.0, 2012.5, 2012.538)
    """
    parts = [int(part) for part in date.split("-")]
    month = parts[1] - 1 if len(parts) > 1 else 0
    day = parts[2] - 1 if len(parts) > 2 else 0
    return parts[0] + (month + day / 31) / 12


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RecordedSet:
    """A recorded release with its shares that fit."""

    version: Version
    label: str
    """The list that its pages are of."""
    shares: tuple[Share, ...]
    date: str
    """Day on which the recording began, YYYY-MM-DD."""

    @property
    def at(self) -> float:
        """Time of the recording, in years."""
        return in_year(self.date)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Two recorded sets, and what changed over the sites that both have."""

    before: RecordedSet
    after: RecordedSet
    changes: tuple[Change, ...]

    @property
    def months(self) -> tuple[str, str]:
        """The months of both sets."""
        return self.before.version.crawl.month, self.after.version.crawl.month

    @property
    def is_repeated(self) -> bool:
        return self.months[0] == self.months[1]

    def sites(self, responses: str) -> int:
        """Sites with such responses in both."""
        return next(change.sites for change in self.changes if change.responses == responses)

    def shares(self, responses: str, iw: int) -> list[Change]:
        return [change for change in self.of(responses) if (change.measure, change.iw) == ("share", iw)]

    def of(self, responses: str) -> list[Change]:
        """Changes that are stated."""
        return [
            change for change in self.changes if change.responses == responses and change.change is not None
        ]


def find_own_months(shelf: Shelf) -> list[Version]:
    """The newest month of each of our own crawls that has LEAST_MONTHS or more, evidence first."""
    newest = [shelf.newest(name) for name in shelf.crawls]
    own = [version for version in newest if version.is_sound and quality(version.crawl) != "recorded"]
    months = collections.Counter(Variant.of(version.crawl) for version in own)
    last = {
        Variant.of(version.crawl): version for version in sorted(own, key=lambda version: version.crawl.month)
    }
    return sorted(
        (version for variant, version in last.items() if months[variant] >= LEAST_MONTHS),
        key=lambda version: (quality(version.crawl) != "observed", str(Variant.of(version.crawl))),
    )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Years:
    """The recorded sets, and what changed between them."""

    sets: tuple[RecordedSet, ...]
    """The earliest first."""
    pairs: tuple[Pair, ...]
    """Every two sets that have enough sites in common and whose sites are joined, the longest time between
    them first."""

    @property
    def count(self) -> int:
        return sum(len(pair.changes) for pair in self.pairs) + sum(len(each.shares) for each in self.sets)


def read_years(shelf: Shelf, releases: OpenReleases) -> Years:
    """The sets that come with the code and are on the shelf, without damaged ones."""
    newest = (shelf.newest(name) for name in shelf.crawls)
    versions = [
        version for version in newest if version.is_sound and version.readable.manifest.list_id in SETS
    ]
    key = ("years", *(version.checksum for version in versions if _is_whole(releases, version)))
    years: Years = releases.opened.kept(
        key, lambda: _compare(releases, versions), size=lambda years: BYTES_OF_A_CHANGE * years.count
    )
    return years


def _is_whole(releases: OpenReleases, version: Version) -> bool:
    """Return whether a release's files are the published ones."""
    with suppress_problems():
        read(releases, version, lambda _: None)
        return True
    return False


def _compare(releases: OpenReleases, versions: Sequence[Version]) -> Years:
    """Read sets and compare every two of them."""
    sets, values = [], {}
    for version in versions:
        with suppress_problems():
            recorded, values[version.name] = read(releases, version, functools.partial(_read_set, version))
            sets.append(recorded)
    sets.sort(key=lambda recorded: recorded.at)
    pairs = [
        Pair(
            before=before,
            after=after,
            changes=tuple(compare_values(values[before.version.name], values[after.version.name], ASKED)),
        )
        for before, after in itertools.combinations(sets, 2)
        if are_joined(before.version.readable.manifest.list_id, after.version.readable.manifest.list_id)
    ]
    stated = [pair for pair in pairs if any(change.change for change in pair.changes)]
    return Years(
        sets=tuple(sets), pairs=tuple(sorted(stated, key=lambda pair: pair.before.at - pair.after.at))
    )


def _read_set(version: Version, release: Release) -> tuple[RecordedSet, Values]:
    recorded = RecordedSet(
        version=version,
        label=release.list_name,
        shares=tuple(pooled_shares(release, sites_of(release), ASKED)),
        date=recorded_on(release),
    )
    return recorded, values_of(release, ASKED)


def across_years(pairs: Sequence[Pair]) -> list[Pair]:
    """Pairs of different months; of two sets of one month those of the later alone, since both say the
    same."""
    earlier = {pair.before.version.name for pair in pairs if pair.is_repeated}
    return [
        pair
        for pair in pairs
        if not pair.is_repeated and not earlier & {pair.before.version.name, pair.after.version.name}
    ]


def drawn_pairs(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs of different months of which changes of all responses are stated, the longest time first."""
    return [pair for pair in across_years(pairs) if pair.of("all")]


def clear_sign(changes: Sequence[Change]) -> int:
    """Return -1 or 1 if the intervals of changes, of which there is one for each way of counting headers, are
    all below or all above zero; else 0."""
    known = [change.change for change in changes if change.change]
    for sign in (-1, 1):
        if known and all(min(sign * change.lower, sign * change.upper) > 0 for change in known):
            return sign
    return 0


def finding(pair: Pair) -> str:
    """What changed over the same sites, in a sentence."""
    signs = {iw: clear_sign(pair.shares("all", iw)) for iw in PICTURED}
    return tell_change(signs, sites=pair.sites("all"), year=pair.before.date[:4])


def source_of(pair: Pair) -> str:
    """Whose pages both sets are of."""
    ends = (f"{end.label}, {end.version.crawl.month}" for end in (pair.before, pair.after))
    return f"firstflight; pages recorded by others, of {' and of '.join(ends)}"


@functools.cache
def published_shares() -> Mapping[str, Mapping[int, float]]:
    """Share that fits into each window of Google's services in 2010, by the digitised curves."""
    shares = {}
    for service in SERVICES:
        fractions, values = sizes(service)
        shares[SERVICE_LABELS[service]] = {
            iw: float(np.interp(iw * ASKED.mss, values, fractions)) for iw in ASKED.windows
        }
    return shares


def list_rows(sets: Sequence[RecordedSet], pairs: Sequence[Pair]) -> Iterator[YearsRow]:
    """Yield the numbers of the figure and of the table."""
    for service, shares in published_shares().items():
        for iw, value in shares.items():
            yield YearsRow(
                what="published",
                measure="share",
                iw=iw,
                list=f"Google {service}, 2010",
                release="Dukkipati et al. 2010, Figure 1, digitised",
                value=value,
            )
    for recorded in sets:
        for share in recorded.shares:
            yield YearsRow(
                what="share",
                responses=share.responses,
                measure="share",
                iw=share.iw,
                end=share.end,
                list=recorded.label,
                release=recorded.version.name,
                sites=share.sites,
                value=share.share.estimate,
                lower=share.share.lower,
                upper=share.share.upper,
            )
    for pair in pairs:
        for change in (change for kind in RESPONSES for change in pair.of(kind)):
            assert change.change is not None
            yield YearsRow(
                what="change",
                responses=change.responses,
                measure=change.measure,
                iw=change.iw,
                end=change.end,
                list=pair.before.label,
                release=pair.before.version.name,
                list_after=pair.after.label,
                release_after=pair.after.version.name,
                sites=change.sites,
                value=change.before,
                value_after=change.after,
                change=change.change.estimate,
                lower=change.change.lower,
                upper=change.change.upper,
            )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class TableRow:
    """Changes of one kind of responses between two sets, by one way of counting headers."""

    pair: Pair
    kind: str
    end: str
    cells: Mapping[tuple[ChangeMeasure, int | None], Change]
    """By measure and window."""


def tabulate(pairs: Sequence[Pair]) -> Iterator[TableRow]:
    """Yield the rows of the table: of each kind of responses and pair every end."""
    for kind in TABULATED:
        for pair in pairs:
            own = pair.of(kind)
            for end in dict.fromkeys(change.end for change in own):
                cells = {(change.measure, change.iw): change for change in own if change.end == end}
                yield TableRow(pair=pair, kind=RESPONSES[kind], end=end, cells=cells)
