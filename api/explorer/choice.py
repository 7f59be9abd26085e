"""What a reader of the explorer chose: releases, measures, strata, what is set side by side, and the form of
the figure. The choice is the address."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlencode

from fastapi import Depends, Query, Request
from pydantic import Field

from api.computing import in_turn
from api.explorer.strata import FIELDS, chosen_stratum
from api.http.choices import SEVERAL
from api.http.links import link, relate
from api.http.problems import Problem
from api.routes.pages import stated_first
from api.routes.parameters import MeasuresQuery, MssQuery, PinnedShelfDep, ShelfDep
from api.routes.strata import Asked
from api.service import service_of
from api.stored.months import Variant
from api.stored.shelf import Shelf, Version
from figures.findings import DRAWN
from releases.cdf import is_stated
from releases.slow_start import MSS_FIG1, WINDOWS
from releases.strata.sample import DIMENSION_LABELS, Stratum, dimensions_of
from schema.computed_tables import LABELS, NOUNS, SIZES, UNITS

MOST = 6
"""As many curves as can be told apart."""

MOST_FIGURES = 12

By = Literal["release", "device", "list", "vantage", "protocol", "resource_type", "rank_stratum", "party"]
BYS: dict[str, str] = {by: DIMENSION_LABELS.get(by, by) for by in get_args(By)}

OF_CRAWLS = ("device", "list", "vantage")
"""Tells crawls apart; the others are dimensions of strata."""

Form = Literal["cdf", "histogram", "quantiles"]
FORMS: dict[str, str] = {"cdf": "CDF", "histogram": "histogram", "quantiles": "quantiles"}

INSTEAD = ("responses", "responses_derived", "responses_derived_bodies", "first_flights", "pages")
"""Measures to take where a release states no share of one, the nearest first."""

# The fields of the form may be empty.
Crawls = Annotated[list[Annotated[str, Field(max_length=200)]], Query(max_length=MOST), SEVERAL]
Windows = Annotated[list[Annotated[int, Field(ge=1, le=1000)]], Query(max_length=8), SEVERAL]
ByQuery = Annotated[By, Query(description="what is set side by side")]
FormQuery = Annotated[Form, Query(description="form of the figure")]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A curve of a figure: a measure and a stratum of a release."""

    version: Version
    measure: str
    stratum: Asked
    name: str = ""
    beside_measure: str = ""
    """The same without the measure."""

    @property
    def noun(self) -> str:
        """Its items in a sentence."""
        return NOUNS[self.measure] + (f" ({self.beside_measure})" if self.beside_measure else "")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What the reader chose."""

    releases: list[Version]
    measures: list[str]
    windows: list[int]
    mss: int
    stratum: Asked
    by: By
    form: Form
    months: dict[Variant, list[Version]]

    def query(self) -> str:
        """Return the choice as a query, which pins each release."""
        months = [version.name for month in self.months.values() for version in month]
        return self.among(*self.releases) + "&" + urlencode({"release": months}, doseq=True)

    def of_months(self, variant: str) -> str:
        crawls = {crawl: months for crawl, months in self.months.items() if str(crawl) == variant}
        own = [version for version in self.releases if Variant.of(version.crawl) in crawls]
        return dataclasses.replace(self, releases=own, months=crawls).query()

    def among(self, *releases: Version, measures: Sequence[str] = ()) -> str:
        """Return the choice with other releases or measures, as a query."""
        forms = [("by", self.by, "release"), ("figure", self.form, "cdf")]
        return urlencode(
            [
                *(("crawl", version.name) for version in releases),
                *(("measure", measure) for measure in measures or self.measures),
                *((name, value) for name, value, usual in forms if value != usual),
                ("iw", ",".join(map(str, self.windows))),
                ("mss", self.mss),
                *self.stratum.parameters().items(),
            ]
        )


async def choose(
    request: Request,
    shelf: ShelfDep,
    pinned: PinnedShelfDep,
    stratum: Annotated[Asked, Depends(chosen_stratum)],
    crawl: Crawls = [],  # noqa: B006  # FastAPI copies it
    measure: MeasuresQuery = [],  # noqa: B006
    by: ByQuery = "release",
    figure: FormQuery = "cdf",
    iw: Windows = [],  # noqa: B006
    mss: MssQuery = MSS_FIG1,
) -> Choice:
    named = list({version.name: version for version in map(shelf.find, crawl)}.values())
    chosen = named or await in_turn(_newest)(request, shelf)
    if by in OF_CRAWLS and len(chosen) == 1 and chosen[0].is_sound:
        chosen = await in_turn(find_side_by_side)(shelf, chosen[0], by)
    measures = list(dict.fromkeys(measure)) or await in_turn(_stated)(request, chosen, stratum)
    choice = Choice(
        releases=chosen,
        measures=measures if measure or by == "release" else measures[:1],
        windows=sorted(set(iw)) or list(WINDOWS[:3]),
        mss=mss,
        stratum=stratum,
        by=by,
        form=figure,
        months=_months(pinned, chosen),
    )
    if chosen:
        relate(request, "canonical", f"{link(request, request.scope['route'].name)}?{choice.query()}")
    return choice


ChoiceDep = Annotated[Choice, Depends(choose)]


def _months(shelf: Shelf, chosen: Sequence[Version]) -> dict[Variant, list[Version]]:
    """Return the months of each chosen crawl on the shelf."""
    variants = dict.fromkeys(Variant.of(version.crawl) for version in chosen)
    released = {Variant.of(version.crawl) for version in shelf.versions}
    return {variant: variant.months(shelf) for variant in variants if variant in released}


def _newest(request: Request, shelf: Shelf) -> list[Version]:
    return list(itertools.islice(stated_first(request, shelf.newest_sound, DRAWN), 1))


def _stated(request: Request, chosen: Sequence[Version], stratum: Asked) -> list[str]:
    """Return the default measures that have the stratum, and whose shares the first release states; if
    none, all that have it.
    """
    counts = service_of(request).releases.counts(chosen[0]) if chosen else {}
    measures = [measure for measure in DRAWN if stratum.is_of(measure)]
    return [measure for measure in measures if counts and is_stated(counts[measure])] or measures


def find_figures(request: Request, choice: Choice) -> list[list[Line]]:
    """Return each figure's curves; Problem if there is no release yet, or too many figures.

    Releases and measures of one unit share a figure as long as all can be told apart, and have one for
    each measure beyond; strata have one for each release and measure.
    """
    if not choice.releases:
        raise Problem("no-such-crawl", "there is no release yet")
    if choice.by in ("release", *OF_CRAWLS):
        figures = [
            [Line(version=version, measure=measure, stratum=choice.stratum) for version in choice.releases]
            for measure in choice.measures
        ]
        if len(choice.releases) * len(choice.measures) <= MOST:
            figures = [
                [line for lines in zip(*alike, strict=True) for line in lines] for alike in _by_unit(figures)
            ]
    else:
        pairs = itertools.product(choice.releases, choice.measures)
        figures = [
            [
                Line(version=version, measure=measure, stratum=stratum)
                for stratum in find_strata(request, version, measure, choice.stratum, choice.by)
            ]
            for version, measure in itertools.islice(pairs, MOST_FIGURES + 1)
        ]
    if len(figures) > MOST_FIGURES:
        raise Problem("bad-parameter", f"measure: choose fewer, for at most {MOST_FIGURES} figures at once")
    return [_named(lines, choice.by) for lines in figures]


def _by_unit(figures: Sequence[list[Line]]) -> Iterator[list[list[Line]]]:
    units = [UNITS[lines[0].measure] for lines in figures]
    for unit in dict.fromkeys(units):
        yield [lines for lines, own in zip(figures, units, strict=True) if own == unit]


def find_side_by_side(shelf: Shelf, first: Version, by: str) -> list[Version]:
    """Return releases that differ in one part: device or vantage of the month, or the newest of each other
    list.
    """
    found = {_part(first, by): first}
    for version in map(shelf.newest, shelf.crawls):
        if not version.is_sound:
            continue
        crawl = version.crawl
        if by == "list":
            is_alike = (crawl.device, crawl.kind) == (first.crawl.device, first.crawl.kind)
        else:
            is_alike = dataclasses.replace(crawl, **{by: getattr(first.crawl, by)}) == first.crawl
        if is_alike:
            found.setdefault(_part(version, by), version)
    return list(found.values())[:MOST]


def _part(version: Version, by: str) -> str:
    return version.readable.manifest.list_id if by == "list" else str(getattr(version.crawl, by))


def find_strata(request: Request, version: Version, measure: str, asked: Asked, by: str) -> list[Asked]:
    """Return the largest strata by a dimension, at most MOST; that asked for without any."""
    releases = service_of(request).releases
    free = _fixed(asked.stratum, by, None)
    counts = releases.count_by(version, measure, by, free) if by in dimensions_of(measure) else {}
    largest = sorted(counts, key=lambda value: -counts[value])[:MOST]
    values = largest if by == "resource_type" else sorted(largest)
    return [dataclasses.replace(asked, stratum=_fixed(free, by, value)) for value in values] or [asked]


def _fixed(stratum: Stratum, dimension: str, value: str | int | None) -> Stratum:
    named: dict[str, Any] = {dimension: value}
    return dataclasses.replace(stratum, **named)


def find_bys(request: Request, shelf: Shelf, choice: Choice) -> list[str]:
    if not choice.releases:
        return []
    first, measure = choice.releases[0], choice.measures[0]
    if not first.is_sound:
        return [choice.by]

    def is_offered(by: str) -> bool:
        if by in OF_CRAWLS:
            return len(find_side_by_side(shelf, first, by)) > 1
        return by == "release" or len(find_strata(request, first, measure, choice.stratum, by)) > 1

    return [by for by in BYS if by == choice.by or is_offered(by)]


def find_beside(shelf: Shelf, chosen: Sequence[Version]) -> Iterator[tuple[str, Version]]:
    """Yield what to set beside the first release, with what it is: a year before, and other devices."""
    if not chosen:
        return
    first = chosen[0]
    wanted = {str(first.crawl.year_before): "a year before"}
    for version in find_side_by_side(shelf, first, "device")[1:] if first.is_sound else ():
        wanted[str(version.crawl)] = version.crawl.device
    taken = {str(version.crawl) for version in chosen}
    for name, what in wanted.items():
        if name in shelf.crawls and name not in taken and shelf.newest(name).is_sound:
            yield what, shelf.newest(name)


def find_instead(request: Request, line: Line) -> str | None:
    """Return the measure to take where a release states no share of a curve's."""
    if not line.version.is_sound:
        return None
    counts = service_of(request).releases.counts(line.version)
    nearest = INSTEAD if line.measure in SIZES else ("pages", *INSTEAD)
    measures = (name for name in nearest if name != line.measure and line.stratum.is_of(name))
    return next((name for name in measures if is_stated(counts[name])), None)


def _named(lines: list[Line], by: str) -> list[Line]:
    releases = name_releases([line.version for line in lines], by)
    parts = [
        (
            releases[line.version.name],
            "" if by in ("release", *OF_CRAWLS) else _value(line.stratum, by),
            LABELS[line.measure],
        )
        for line in lines
    ]
    differing = [len(set(column)) > 1 for column in zip(*parts, strict=True)]
    named = []
    for line, words in zip(lines, parts, strict=True):
        *others, measure = [word if differs else "" for word, differs in zip(words, differing, strict=True)]
        beside = ", ".join(filter(None, others))
        name = ", ".join(filter(None, [beside, measure]))
        named.append(dataclasses.replace(line, name=name, beside_measure=beside))
    return named


def name_releases(versions: Sequence[Version], by: str = "release") -> dict[str, str]:
    """Return short names: months if they tell releases apart, else all parts that differ."""
    distinct = {version.name: version for version in versions}
    if by in OF_CRAWLS:
        return {name: _part(version, by) for name, version in distinct.items()}
    if len({version.crawl.month for version in distinct.values()}) == len(distinct):
        return {name: version.crawl.month for name, version in distinct.items()}
    parts = [
        [*dataclasses.astuple(version.crawl), f"version {version.version}"] for version in distinct.values()
    ]
    differing = [len(set(column)) > 1 for column in zip(*parts, strict=True)]
    return {
        name: ", ".join(itertools.compress(words, differing))
        for name, words in zip(distinct, parts, strict=True)
    }


def _value(stratum: Asked, by: str) -> str:
    value = getattr(stratum.stratum, by)
    said = next(field.options[str(value)] for field in FIELDS if field.name == by) if value else ""
    return f"{DIMENSION_LABELS[by]} {said}" if by == "rank_stratum" and said else said
