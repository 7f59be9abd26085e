"""Changes over the same sites: of the sets that come with the code, against an independent derivation.

matched.csv was derived from the same recordings by other code. Its shares are of all responses of known size,
redirects included, by the recorders' own counts; the releases' leave redirects out and add the headers of
frames to those of 2025. So the statistic is held to it over the recorders' counts, and the releases' numbers
where neither matters: images and main documents.
"""

import collections
import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq
import pytest

from recordings.pages.same_sites import values_of
from recordings.pages.sets import SETS
from releases.catalogue import releases
from releases.changes import (
    Change,
    Selection,
    Values,
    compare_values,
    ratio_change,
    share_change,
)
from releases.strata.bootstrap import LEAST_SITES

MSS = 1430

NAMES = {
    "2013": "phantomjs-2013-09",
    "2019": "wpt-2019-12",
    "2022": "mobile-images-2022-05",
    "2025": "pages-2025-08",
}

MATCHED = list(
    csv.DictReader((Path(__file__).parent / "matched.csv").read_text(encoding="utf-8").splitlines())
)


class Sized(NamedTuple):
    """A response as its recorder counted it."""

    site: str
    kind: str
    size: float


@pytest.fixture(scope="module")
def recorded() -> Mapping[str, list[Sized]]:
    """Responses of known size of the sites that several sets have: with the header's text where it was not
    counted, but for the images of 2013, which were compared by their bodies.

    `recorders_counts.parquet` was made of the recorders' facts; releases do not state the sizes of redirects.
    """
    rows = collections.defaultdict(list)
    for row in pq.read_table(Path(__file__).parent / "recorders_counts.parquet").to_pylist():
        rows[row["set"]].append(Sized(row["site"], row["kind"], row["size"]))
    return rows


def by_site(sizes: list[Sized], what: str) -> dict[str, list[float]]:
    kinds = {"all": None, "images": "image", "main": "main"}
    sizes_by_site = collections.defaultdict(list)
    for size in sizes:
        if kinds[what] in (None, size.kind):
            sizes_by_site[size.site].append(size.size)
    return sizes_by_site


@pytest.mark.parametrize("row", MATCHED, ids=lambda row: "-".join(list(row.values())[:5]))
def test_the_statistic_is_the_one_that_others_derived_of_the_recorders_counts(
    recorded: Mapping[str, list[Sized]], row: Mapping[str, str]
) -> None:
    years = [by_site(recorded[NAMES.get(row[end], row[end])], row["what"]) for end in ("a", "b")]
    same = sorted(years[0].keys() & years[1].keys())
    shares, medians = (
        [np.array([of(year[site]) for site in same]) for year in years]
        for of in (lambda sizes: np.mean(np.array(sizes) <= int(row["k"]) * MSS), np.median)
    )
    assert len(same) == int(row["sites"])
    before, after, change = share_change(*shares)
    ratio = ratio_change(*medians)[2]
    assert change is not None
    assert ratio is not None
    assert before == pytest.approx(float(row["share_a"]), abs=0.00051)
    assert after == pytest.approx(float(row["share_b"]), abs=0.00051)
    assert change.estimate == pytest.approx(float(row["change"]), abs=0.00051)
    # Other draws of sites.
    assert (change.lower, change.upper) == pytest.approx((float(row["lo"]), float(row["hi"])), abs=0.02)
    assert ratio.estimate == pytest.approx(float(row["median_ratio"]), abs=0.0051)


@pytest.fixture(scope="module")
def values(recorded_releases: Callable[[str], Path]) -> Mapping[str, Values]:
    """Values by site of the release of each set."""
    values = {}
    for name in SETS:
        release = next(releases(recorded_releases(name)))
        values[name] = values_of(release, Selection())
    return values


@pytest.mark.parametrize(
    "row", [row for row in MATCHED if row["what"] != "all"], ids=lambda row: "-".join(list(row.values())[:5])
)
def test_changes_of_images_and_main_documents_of_the_releases_are_those_that_others_derived(
    values: Mapping[str, Values], row: Mapping[str, str]
) -> None:
    what = {"images": "image", "main": "main"}[row["what"]]
    compared = found_in(values, row["a"], row["b"], what, int(row["k"]))
    # Images of 2013 were compared by bodies; framing and cut-off responses move others by less.
    ends = [
        change
        for change in compared
        if change.end in (("bodies",) if row["a"] == "2013" else ("whole", "headers"))
    ]
    (change,) = ends
    assert change.sites == pytest.approx(int(row["sites"]), abs=1)
    assert change.change is not None
    assert change.change.estimate == pytest.approx(float(row["change"]), abs=0.012)


def found_in(values: Mapping[str, Values], a: str, b: str, responses: str, iw: int) -> list[Change]:
    asked = Selection(windows=(iw,), measures=("share",), responses=(responses,))
    return list(compare_values(values[NAMES.get(a, a)], values[NAMES.get(b, b)], asked))


@pytest.mark.parametrize(
    ("a", "iw", "end", "before", "after"),
    [
        ("2019", 10, "headers", 0.676, 0.621),
        ("2019", 10, "bodies", 0.679, 0.621),
        ("2019", 30, "headers", 0.875, 0.810),
        ("2019", 30, "bodies", 0.876, 0.810),
        ("lh-kenya-2020-07", 10, "whole", 0.657, 0.613),
        ("lh-kenya-2020-07", 30, "whole", 0.870, 0.802),
    ],
)
def test_without_redirects_less_of_all_responses_changed_and_bodies_alone_say_the_same(
    values: Mapping[str, Values], a: str, iw: int, end: str, before: float, after: float
) -> None:
    (change,) = [change for change in found_in(values, a, "2025", "all", iw) if change.end == end]
    assert change.before == pytest.approx(before, abs=0.002)
    assert change.after == pytest.approx(after, abs=0.002)


def test_a_set_of_images_alone_says_nothing_of_all_responses(values: Mapping[str, Values]) -> None:
    for name in ("phantomjs-2013-09", "mobile-images-2022-05"):
        assert {kind for kind, _ in values[name]} <= {"image", "main"}


def test_fewer_than_twenty_sites_say_nothing(values: Mapping[str, Values]) -> None:
    before = {key: row for number, (key, row) in enumerate(values["wpt-2019-12"].items()) if number < 5}
    for change in compare_values(before, values["pages-2025-08"], Selection()):
        assert change.sites < LEAST_SITES
        assert (change.before, change.after, change.change) == (None, None, None)
