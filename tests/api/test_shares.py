"""Shares that fit: the same wherever they are stated, and what is said to be unknown."""

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
from fastapi.testclient import TestClient

from api.routes.answers import DistributionAnswer, FitAnswer, QuantileAnswer
from api.routes.pages import TEMPLATES
from recordings.pages.same_sites import sites_of
from releases.catalogue import read_release
from releases.strata.cells import read_items
from releases.strata.statistics import FEW_SITES
from reports.sections.sizes.counts import size_section
from reports.sections.sizes.kinds import kind_rows
from schema.computed_tables import ITEM, SIZES
from schema.crawls import CrawlName
from tests.api.conftest import serving, write_release_with_items

SHARES = TEMPLATES.get_template("parts.html").module.shares  # type: ignore[attr-defined]
STATED = DistributionAnswer(
    measure="pages",
    definition="",
    known=2,
    unknown=0,
    sites=1,
    fits=[FitAnswer(iw=iw, window_bytes=iw * 1430, count=0, share=0.0) for iw in (3, 10)],
    quantiles=[QuantileAnswer(percent=50, size_bytes=1), QuantileAnswer(percent=95, size_bytes=2)],
    points=[],
    interval_unknown=FEW_SITES,
)


def test_a_share_of_which_most_sizes_are_unknown_is_not_stated() -> None:
    table = SHARES([STATED, STATED.model_copy(update={"unknown": 3, "measure": "hosts"})])
    assert table.count('<th scope="row"') == 1
    assert table.count('class="fill"') == 2
    assert "too few sizes are known: hosts of a page (2 of 5)." in table


CRAWL = CrawlName(month="2026-12")
WINDOWS = (3, 10, 30)

SITES = 40
Asked = list[tuple[str, str | int | float | bool | None]]

FEW, MOSTLY_UNKNOWN, ALL_FIT = "first_flights", "hosts", "tls_flights"


def items_of_every_measure() -> pa.Table:
    """Items of every measure: one of few sites, one of mostly unknown sizes, one of which all fit into ten
    segments."""
    random = np.random.default_rng(1)
    rows = []
    for measure in SIZES:
        for rank in range(1, 11 if measure == FEW else SITES + 1):
            sizes = np.exp(random.normal(random.normal(9, 1), 1, 1 + random.poisson(8))).astype(int)
            for place, size in enumerate(sizes.tolist()):
                known = min(size, 14_300) if measure == ALL_FIT else size
                row = {"measure": measure, "size_bytes": known, "rank": rank, "page_kind": "home"}
                rows.append(row | {"protocol": ("h2", "h3")[place % 2], "resource_type": "image"})
                if measure == MOSTLY_UNKNOWN:
                    rows += 2 * [row | {"size_bytes": None}]
    rows.sort(key=lambda row: (row["measure"], row["size_bytes"] is None, row["size_bytes"], row["rank"]))
    return pa.Table.from_pylist(rows, schema=ITEM)


Stated = dict[tuple[str, int], list[float | None]]
"""Share and ends of its interval, by measure and window."""


def stated_by_api(client: TestClient, asked: Asked) -> Stated:
    answer = client.get("/v1/distributions", params=asked).json()
    return {
        (distribution["measure"], fit["iw"]): [fit["share"], fit["lower"], fit["upper"]]
        for distribution in answer["distributions"]
        for fit in distribution["fits"]
    }


def stated_by_explorer(client: TestClient, asked: Asked) -> Stated:
    return {
        (measure, int(row["iw"])): [float(row[name]) if row[name] else None for name in ENDS]
        for measure in SIZES
        for row in csv.DictReader(
            client.get("/explore.csv", params=[*asked, ("measure", measure)]).iter_lines()
        )
        if row["iw"]
    }


ENDS = ("cdf", "lower", "upper")


def stated_by_report(folder: Path) -> Stated:
    return {
        (measure["id"], share["iw"]): [share["percent"], share["lower_percent"], share["upper_percent"]]
        for measure in size_section(read_release(folder), windows=WINDOWS).content["measures"]
        for share in measure["shares"]
    }


def test_the_report_the_api_and_the_explorer_state_the_same_share_and_interval_of_every_measure(
    tmp_path: Path,
) -> None:
    folder = write_release_with_items(tmp_path, CRAWL, items=items_of_every_measure())
    asked: Asked = [("crawl", str(CRAWL)), *(("iw", iw) for iw in WINDOWS)]
    with serving(tmp_path) as client:
        api, explorer = stated_by_api(client, asked), stated_by_explorer(client, asked)
    report = stated_by_report(folder)
    assert report.keys() == api.keys() == {(measure, iw) for measure in SIZES for iw in WINDOWS}
    for (measure, iw), stated in api.items():
        if measure == MOSTLY_UNKNOWN:
            assert (report[measure, iw], explorer.get((measure, iw))) == ([None] * 3, None)
        else:
            assert explorer[measure, iw] == stated
            assert report[measure, iw] == [end and 100 * end for end in stated]
            assert (stated[1] is None) == (measure == FEW)
    share, lower, upper = api[ALL_FIT, 10]
    assert share == upper == 1
    assert lower is not None
    assert 0.8 < lower < 1


def test_the_report_and_the_api_state_the_same_share_and_interval_of_a_protocol(tmp_path: Path) -> None:
    release = read_release(write_release_with_items(tmp_path, CRAWL, items=items_of_every_measure()))
    items = read_items(release.file("item"), "responses", sites_of(release))
    rows = kind_rows(items, "protocol", window=14_300)
    asked = {"crawl": str(CRAWL), "measure": "responses", "iw": "10"}
    with serving(tmp_path) as client:
        for protocol, name in (("h2", "HTTP/2"), ("h3", "HTTP/3")):
            answer = client.get("/v1/first-flight", params=asked | {"protocol": protocol}).json()
            (share,) = (row["share"] for row in rows if row["kind"] == name)
            assert share == {
                "estimate": 100 * answer["share"],
                "lower": 100 * answer["lower"],
                "upper": 100 * answer["upper"],
            }
