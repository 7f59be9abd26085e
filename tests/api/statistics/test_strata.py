"""Distributions and series of strata, with confidence intervals, and what releases without strata answer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from schema.computed_tables import SIZES
from schema.crawls import CrawlName
from tests.api.conftest import (
    item_table,
    own_or_shared,
    serving_library,
    write_library,
    write_release_with_items,
)
from tests.api.test_v1 import assert_problem

CRAWL = "2026-12.desktop.local.tcp.localweb"


MONTH = CrawlName(month="2026-12", kind="localweb")


@pytest.fixture
def december(data_dir: Path) -> Path:
    """A month with strata, after two without, which the test may change."""
    return write_release_with_items(data_dir / "releases", MONTH)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    root = write_library(tmp_path_factory.mktemp("library"))
    write_release_with_items(root / "releases", MONTH)
    with serving_library(root) as client:
        yield client


@pytest.fixture
def client(request: pytest.FixtureRequest) -> TestClient:
    """A client of a service over these months, which a test shares with
    others unless it asks for December."""
    return own_or_shared(request, "own_client", "shared")


def distributions(client: TestClient, crawl: str = CRAWL, **parameters: Any) -> dict[str, Any]:
    response = client.get("/v1/distributions", params={"crawl": crawl, **parameters})
    assert response.status_code == 200, response.text
    counted: dict[str, Any] = response.json()
    return counted


def rows(**wanted: Any) -> list[int]:
    table = item_table().to_pylist()
    return [row["size_bytes"] for row in table if all(row[name] == wanted[name] for name in wanted)]


@pytest.mark.parametrize(
    "stratum",
    [
        {},
        {"protocol": "h2"},
        {"rank_stratum": 10_000},
        {"party": "first", "resource_type": "image"},
        {"protocol": "http/1.1", "rank_stratum": 1000, "resource_type": "image", "party": "first"},
    ],
)
def test_a_stratum_and_any_cross_has_its_exact_shares_and_quantiles(
    client: TestClient, stratum: dict[str, Any]
) -> None:
    answer = distributions(client, measure="responses", iw=[3, 10], **stratum)
    assert answer["stratum"] == stratum
    (counted,) = answer["distributions"]
    sizes = rows(measure="responses", **stratum)
    assert counted["known"] == len(sizes)
    for fit in counted["fits"]:
        assert fit["count"] == sum(size <= fit["window_bytes"] for size in sizes)
    medians = [quantile["size_bytes"] for quantile in counted["quantiles"] if quantile["percent"] == 50]
    assert medians == [sizes[(len(sizes) + 1) // 2 - 1]]


def test_every_share_and_quantile_has_an_interval_that_holds_it(client: TestClient) -> None:
    answer = distributions(client, measure="responses", iw=[1, 3, 10, 1000])
    (counted,) = answer["distributions"]
    assert (answer["confidence"], counted["interval_unknown"], counted["sites"]) == (0.95, None, 30)
    for fit in counted["fits"]:
        assert fit["lower"] <= fit["share"] <= fit["upper"]
    for quantile in counted["quantiles"]:
        assert quantile["lower_bytes"] <= quantile["size_bytes"] <= quantile["upper_bytes"]


def test_a_stratum_of_few_sites_has_shares_without_intervals(client: TestClient) -> None:
    (counted,) = distributions(client, measure="responses", rank_stratum=1000)["distributions"]
    assert counted["sites"] == 16
    assert counted["fits"][0]["share"] is not None
    assert counted["fits"][0]["lower"] is None
    assert "fewer than 20 sites" in counted["interval_unknown"]


def test_a_stratum_that_a_release_lacks_is_unknown_with_a_sentence(client: TestClient) -> None:
    answer = distributions(client, cache="warm")
    assert answer["distributions"] == []
    assert "no load was warm" in answer["stratum_unknown"]


@pytest.mark.usefixtures("december")
def test_recorded_pages_have_no_stratum_of_rank(client: TestClient, data_dir: Path) -> None:
    crawl = CrawlName(month="2025-08", kind="recorded")
    write_release_with_items(data_dir / "releases", crawl)
    answer = distributions(client, str(crawl), rank_stratum=1000)
    assert answer["stratum_unknown"] == "the ranks of recorded pages are not known"


def test_a_stratum_without_an_item_is_empty_and_not_zero(client: TestClient) -> None:
    (counted,) = distributions(client, measure="responses", protocol="h3")["distributions"]
    assert (counted["known"], counted["fits"][0]["share"], counted["quantiles"]) == (0, None, [])
    assert counted["interval_unknown"] == "no size is known"


def test_a_series_has_the_median_number_of_requests_and_no_share_of_a_window(client: TestClient) -> None:
    asked = {"measure": "requests", "statistic": "quantile"}
    answer = client.get("/v1/series", params=asked).json()
    assert answer["unit"] == "requests"
    known = [point["value"] for point in answer["points"] if point["value"] is not None]
    assert known[-1] == 8 + 2 + 2  # responses of known and of unknown size, and incomplete ones
    refused = client.get("/v1/series", params={"measure": "requests"})
    assert_problem(refused, "bad-parameter", 400, mentions="take quantile or mean")
    assert client.get("/v1/first-flight", params={"measure": "requests"}).status_code == 422


def test_measures_without_a_dimension_are_left_out_or_refused(client: TestClient) -> None:
    counted = distributions(client, resource_type="image")["distributions"]
    assert [entry["measure"] for entry in counted] == [name for name in SIZES if name.startswith("responses")]
    refused = client.get("/v1/distributions", params={"crawl": CRAWL, "measure": "pages", "protocol": "h2"})
    assert_problem(refused, "bad-parameter", 400, mentions="protocol: the measure pages has")


@pytest.mark.parametrize(
    "query",
    ["protocol=h4", "rank_stratum=5000", "party=second", "resource_type=cat", "page_kind=all", "cache=hot"],
)
def test_a_value_that_no_stratum_has_is_refused(client: TestClient, query: str) -> None:
    name = query.partition("=")[0]
    for path in (f"/v1/distributions?crawl={CRAWL}", "/v1/series?kind=localweb"):
        assert_problem(client.get(f"{path}&{query}"), "no-such-choice", 422, mentions=name)


def test_a_series_has_the_stratum_in_each_month(client: TestClient) -> None:
    counted = client.get("/v1/series?kind=localweb&protocol=h2&iw=3").json()
    assert counted["stratum"] == {"protocol": "h2"}
    values = {point["month"]: (point["value"], point["value_unknown"]) for point in counted["points"]}
    sizes = rows(measure="responses", protocol="h2")
    assert values["2026-12"] == (sum(size <= 4290 for size in sizes) / len(sizes), None)
    for month in ("2026-10", "2026-11"):
        assert values[month] == (1 / 4, None)


@pytest.mark.parametrize("statistic", ["share", "quantile", "mean"])
def test_a_series_has_an_interval_where_the_month_says_which_sites(
    client: TestClient, statistic: str
) -> None:
    counted = client.get(f"/v1/series?kind=localweb&statistic={statistic}").json()["points"]
    assert [point["lower"] is not None for point in counted] == [False, False, True]
    december = counted[-1]
    assert december["lower"] <= december["value"] <= december["upper"]
    assert december["sites"] == 30


def test_damaged_items_are_a_problem(client: TestClient, december: Path) -> None:
    (december / "item.parquet").write_bytes(b"not parquet")
    answer = client.get("/v1/distributions", params={"crawl": CRAWL, "protocol": "h2"})
    assert_problem(answer, "damaged-release", 503, mentions="item.parquet")
