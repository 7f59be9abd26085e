"""What a larger window does to pages of 2019 and of 2025 over the same networks: its numbers."""

from collections.abc import Iterator
from typing import Literal

from api.outside.years import YearsRow
from recordings.pages.sets import SETS, read_source
from releases.interval import Interval
from verdict.two_years import AFTER, ALIKE, ALL, BEFORE, CANDIDATE, SAME, YEARS, Comparison, comparison

Measure = Literal["gain_percent", "resent_pp", "net_benefit_pp"]

COMPARED: dict[Measure, tuple[str, str]] = {
    "gain_percent": ("Page time saved", "%"),
    "resent_pp": ("Payload sent again beyond IW 10", "pp"),
    "net_benefit_pp": ("Net benefit", "pp"),
}
"""What is compared, with its title and unit."""


def comparisons() -> dict[str, Comparison]:
    """All comparisons, the one that decides the sentence first; the last is not drawn."""
    return {pages: comparison(pages) for pages in (SAME, ALL, ALIKE)}


def list_rows() -> Iterator[YearsRow]:
    """Yield the numbers of the figure: of each measure both years, and their difference."""
    lists = {year: read_source(SETS[name]).list_name for year, name in YEARS.items()}
    for pages, compared in comparisons().items():
        for measure in COMPARED:
            values: dict[int, Interval] = {
                year: getattr(worth, measure) for year, worth in compared.of.items()
            }
            for year, value in values.items():
                yield YearsRow(
                    what="larger window",
                    responses=pages,
                    measure=measure,
                    iw=str(CANDIDATE),
                    list=lists[year],
                    release=YEARS[year],
                    sites=compared.counts[year],
                    value=value.estimate,
                    lower=value.lower,
                    upper=value.upper,
                )
            change: Interval = getattr(compared.change, measure)
            yield YearsRow(
                what="larger window, change",
                responses=pages,
                measure=measure,
                iw=str(CANDIDATE),
                list=lists[BEFORE],
                release=YEARS[BEFORE],
                list_after=lists[AFTER],
                release_after=YEARS[AFTER],
                sites=compared.counts[AFTER] if pages != ALL else None,
                value=values[BEFORE].estimate,
                value_after=values[AFTER].estimate,
                change=change.estimate,
                lower=change.lower,
                upper=change.upper,
            )


def is_clear(change: Interval) -> bool:
    return change.lower > 0 or change.upper < 0


def is_worth(compared: Comparison) -> str:
    """Whether the window is worth more than six years ago, in words."""
    change = compared.change.net_benefit_pp
    if not is_clear(change):
        return "whether the larger window is worth more than six years ago cannot be told"
    return f"the larger window is worth {'more' if change.estimate > 0 else 'less'} than six years ago"
