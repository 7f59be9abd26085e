"""Intervals over sites in the explorer: bands of the curves, table and files, and releases that have none."""

import re

from fastapi.testclient import TestClient

from releases.formatting import NARROW
from tests.api.explorer.conftest import MANY, ONE
from tests.api.explorer.test_explorer import SVG, drawn, rows


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
    (panel,) = drawn(client_of_items, f"crawl={MANY}&measure=responses").findall("svg:g", SVG)
    curve, band = (
        [tuple(map(float, pair)) for pair in re.findall(pattern, path.get("d", ""))]
        for path, pattern in (
            (panel.find("svg:path[@class='c0']", SVG), r"H([\d.]+)V([\d.]+)"),
            (panel.find("svg:path[@class='b0 band']", SVG), r"V([\d.]+)H([\d.]+)"),
        )
        if path is not None
    )
    out, back = band[: len(band) // 2], band[len(band) // 2 :]
    assert [across for _, across in out] == [across for across, _ in curve[1:]]
    for (_, share), (upper, _), (lower, _) in zip(curve, out, reversed(back), strict=False):
        assert upper <= share <= lower


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
    (panel,) = drawn(client_of_items, query).findall("svg:g", SVG)
    assert [path.get("class") for path in panel.findall("svg:path", SVG)] == ["b1 band", "c0", "c1"]
    assert f"{ONE}/v1 without intervals: fewer than 20 sites" in client_of_items.get(f"/explore?{query}").text
    bare = [row for row in rows(client_of_items, query) if row["release"].startswith(ONE)]
    assert {(row["lower"], row["upper"]) for row in bare} == {("", "")}
