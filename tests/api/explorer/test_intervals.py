"""Intervals over sites in the explorer: bands of the curves, table and files, and releases that have none."""

import re

from fastapi.testclient import TestClient

from releases.formatting import NARROW
from tests.api.explorer.conftest import MANY, ONE
from tests.api.explorer.test_explorer import drawn_rows, rows


def test_each_share_of_the_csv_lies_within_its_interval_and_is_that_of_the_api(
    client_of_items: TestClient,
) -> None:
    table = rows(client_of_items, f"crawl={MANY}&measure=responses&iw=3,10")
    assert all(float(row["lower"]) <= float(row["cdf"]) <= float(row["upper"]) for row in table)
    answer = client_of_items.get(
        f"/v1/distributions?crawl={MANY}&measure=responses&iw=3&iw=10&mss=1430"
    ).json()
    fits = [(fit["share"], fit["lower"], fit["upper"]) for fit in answer["distributions"][0]["fits"]]
    windows = [row for row in table if row["iw"]]
    assert [tuple(float(row[name]) for name in ("cdf", "lower", "upper")) for row in windows] == fits


def test_a_band_goes_around_its_curve_from_the_smallest_size_to_the_largest(
    client_of_items: TestClient,
) -> None:
    found = drawn_rows(client_of_items, f"crawl={MANY}&measure=responses")
    curve = {row["size"]: row["share"] for row in found if "share" in row and "series" in row}
    band = {row["size"]: (row["lower"], row["upper"]) for row in found if "lower" in row}
    assert [*band] == [*curve]
    assert all(lower <= curve[size] <= upper for size, (lower, upper) in band.items())


def test_shares_and_quantiles_of_the_table_have_their_intervals_beside_them(
    client_of_items: TestClient,
) -> None:
    page = client_of_items.get(f"/explore?crawl={MANY}&measure=responses&iw=3,10").text
    row = re.search(r"<tbody>(.*?)</tbody>", page, re.DOTALL)
    assert row is not None
    assert len(re.findall(rf"<small>[\d.]+ to [\d.]+{NARROW}%</small>", row[1])) == 2
    assert len(re.findall(r"<small>[\d.,]+ to [\d.,]+\skB</small>", row[1])) == 2


def test_a_release_of_few_sites_has_no_band_and_says_why(client_of_items: TestClient) -> None:
    query = f"crawl={ONE}&crawl={MANY}&measure=responses"
    found = drawn_rows(client_of_items, query)
    assert {row["series"] for row in found if "series" in row} == {"2026-11", "2026-12"}
    bands = {row["size"] for row in found if "lower" in row}
    curve = {row["size"] for row in found if row.get("series") == "2026-12"}
    assert bands == curve
    assert "2026-11 without intervals: fewer than 20 sites" in client_of_items.get(f"/explore?{query}").text
    bare = [row for row in rows(client_of_items, query) if row["release"].startswith(ONE)]
    assert {(row["lower"], row["upper"]) for row in bare} == {("", "")}
