"""The weight of a site's home page over the months of its crawls."""

import dataclasses
import itertools

from api.explorer.charts import DrawnMonths, Part
from api.rows.sites import WITHOUT_NAME
from api.site_pages.history import SiteAnswer, SiteCrawlAnswer
from api.stored.months import Variant, flags_between, months_between
from api.stored.shelf import Shelf, Version
from releases.formatting import size

MEGABYTE = 1e6


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Weight:
    """What the home page weighed in one month."""

    version: Version
    received_bytes: int

    def is_comparable(self, earlier: "Weight") -> bool:
        """Return whether no break of the series lies between the two months."""
        manifests = (each.version.readable.manifest for each in (earlier, self))
        return not any(change.is_break for change in flags_between(*manifests))


def weights_of(shelf: Shelf, answer: SiteAnswer) -> dict[Variant, list[Weight]]:
    """The weights of each series that has two months that compare, the earliest first; none of a site that
    has a number for a name, which is another in each release."""
    found: dict[Variant, list[Weight]] = {}
    if answer.host.endswith(WITHOUT_NAME):
        return found
    for crawl in reversed(answer.crawls):
        version = shelf.version(crawl.crawl, crawl.provenance.version)
        received = _received_bytes(crawl)
        if received is not None:
            weight = Weight(version=version, received_bytes=received)
            found.setdefault(Variant.of(version.crawl), []).append(weight)
    return {
        variant: weights
        for variant, weights in found.items()
        if any(after.is_comparable(before) for before, after in itertools.pairwise(weights))
    }


def _received_bytes(crawl: SiteCrawlAnswer) -> int | None:
    """Return what the page load that represents the site received; None if it failed."""
    final = (visit for visit in crawl.visits if visit.is_final and visit.outcome == "ok")
    return next((visit.received_bytes for visit in final), None)


def to_draw(found: dict[Variant, list[Weight]]) -> DrawnMonths:
    """Return what is drawn: a line for each series, which ends at breaks and where a month is missing."""
    every = sorted({weight.version.crawl.month for weights in found.values() for weight in weights})
    months = months_between(every[0], every[-1])
    series: list[tuple[str, list[Part]]] = []
    for variant, weights in found.items():
        parts: list[Part] = []
        for before, weight in zip([None, *weights], weights, strict=False):
            at = months.index(weight.version.crawl.month)
            if before is None or parts[-1][-1][0] < at - 1 or not weight.is_comparable(before):
                parts.append([])
            parts[-1].append((at, weight.received_bytes / MEGABYTE, None, None))
        series.append((name_of(variant, found), parts))
    return DrawnMonths(title="", subtitle="", source="", months=months, flags={}, series=series, unit="MB")


def name_of(variant: Variant, among: dict[Variant, list[Weight]]) -> str:
    """Return the parts of a series' name that tell it from the others; empty if it is alone."""
    columns = zip(*(dataclasses.astuple(each) for each in among), strict=True)
    differ = [len(set(column)) > 1 for column in columns]
    return " ".join(itertools.compress(dataclasses.astuple(variant), differ))


def describe(found: dict[Variant, list[Weight]]) -> str:
    """The weights in words, for those who do not see the figure."""
    return "; ".join(
        f"{variant} "
        + ", ".join(f"{weight.version.crawl.month} {size(weight.received_bytes)}" for weight in weights)
        for variant, weights in found.items()
    )
