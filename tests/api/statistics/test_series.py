"""A statistic by month: its values, the flags at breaks, gaps, and what is never one series."""

import csv
import dataclasses
import io
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from schema.crawls import CrawlName
from schema.tables import SCHEMA_VERSION
from schema.vocabulary import METHOD_BREAKS
from tests.api.conftest import serving, write_release, write_release_with_items
from tests.api.test_damaged import withdraw
from tests.api.test_v1 import assert_problem


def series(client: TestClient, **parameters: str | int) -> dict[str, Any]:
    response = client.get("/v1/series", params={"kind": "localweb", **parameters})
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def values(body: dict[str, Any]) -> list[tuple[str, float | None]]:
    return [(point["month"], point["value"]) for point in body["points"]]


def another_month(data_dir: Path, month: str, **facts: Any) -> Path:
    crawl = CrawlName(month=month, kind="localweb", vantage=facts.pop("vantage", "local"))
    return write_release(data_dir / "releases", crawl, version=1, **facts)


def flags(body: dict[str, Any]) -> list[tuple[str, str, bool]]:
    return [(flag["month"], flag["what"], flag["is_break"]) for flag in body["flags"]]


@pytest.mark.parametrize(
    ("parameters", "value"),
    [
        ({"iw": 3}, 2 / 8),
        ({"iw": 10}, 4 / 8),
        ({"iw": 10, "mss": 1460}, 5 / 8),
        ({"statistic": "quantile", "percent": 75}, 50_000),
        ({"statistic": "mean"}, (100 + 4290 + 4291 + 14_300 + 14_301 + 50_000 + 50_000 + 600_000) / 8),
        ({"measure": "pages", "iw": 1000}, 1.0),
    ],
)
def test_each_month_has_the_statistic_that_was_asked_for(
    client: TestClient, parameters: dict[str, Any], value: float
) -> None:
    assert values(series(client, **parameters)) == [("2026-10", value), ("2026-11", value)]


def test_the_newest_version_of_each_month_stands_with_its_citation(client: TestClient) -> None:
    october, november = series(client)["points"]
    assert (october["version"], november["version"]) == (1, 2)
    assert len(november["checksum"]) == 64
    assert november["cite_as"].startswith(f"Crawl {november['crawl']} is illustrative")
    assert client.get(november["url"]).status_code == 200


def test_an_unknown_interval_says_why(client: TestClient) -> None:
    for point in series(client)["points"]:
        assert (point["lower"], point["upper"]) == (None, None)
        assert "fewer than 20 sites" in point["interval_unknown"]


def test_a_measure_without_a_known_size_has_no_value_rather_than_zero(client: TestClient) -> None:
    for point in series(client, measure="hosts")["points"]:
        assert (point["value"], point["value_unknown"]) == (None, "no size is known")


def test_a_month_without_a_release_is_a_gap_and_not_left_out(client: TestClient, data_dir: Path) -> None:
    another_month(data_dir, "2027-01")
    body = series(client, iw=10)
    assert values(body) == [("2026-10", 0.5), ("2026-11", 0.5), ("2026-12", None), ("2027-01", 0.5)]
    assert body["points"][2]["value_unknown"] == "there is no release of this month"


def test_a_damaged_month_has_no_value_and_says_so(client: TestClient, data_dir: Path) -> None:
    (path,) = data_dir.glob("releases/month=2026-10/**/distribution.parquet")
    path.write_bytes(b"not parquet")
    body = series(client, iw=10)
    assert values(body) == [("2026-10", None), ("2026-11", 0.5)]
    assert "distribution.parquet" in body["points"][0]["value_unknown"]


def test_a_series_can_be_cut_to_months(client: TestClient, data_dir: Path) -> None:
    another_month(data_dir, "2026-12")
    assert [month for month, _ in values(series(client, since="2026-11"))] == ["2026-11", "2026-12"]
    assert [month for month, _ in values(series(client, until="2026-11"))] == ["2026-10", "2026-11"]
    nothing = client.get("/v1/series", params={"kind": "localweb", "since": "2030-01"})
    assert_problem(nothing, "no-such-crawl", 404, mentions="of those months")


def test_months_alike_but_for_their_date_have_no_flag(client: TestClient) -> None:
    assert series(client)["flags"] == []


@pytest.mark.parametrize(
    ("changed", "what", "is_break"),
    [
        ({"method_version": "2"}, "method", True),
        ({"schema_version": SCHEMA_VERSION + 1}, "schema", False),
        ({"list_id": "made-up:2"}, "list", False),
        ({"list_id": "crux:2026-12"}, "list", True),
        ({"browser": "Chromium 157"}, "browser", False),
        ({"browser": "Firefox 190"}, "browser", True),
        ({"vantage": "elsewhere"}, "vantage", True),
    ],
)
def test_a_change_of_how_the_months_were_made_is_flagged(
    client: TestClient, data_dir: Path, changed: dict[str, Any], what: str, is_break: bool
) -> None:
    another_month(data_dir, "2026-12", **changed)
    assert flags(series(client, vantage="any")) == [("2026-12", what, is_break)]


@pytest.mark.parametrize(
    ("sites", "is_flagged"), [(1000, False), (990, False), (910, False), (900, True), (5000, True)]
)
def test_a_month_of_another_part_of_the_list_is_a_break(
    client: TestClient, data_dir: Path, sites: int, is_flagged: bool
) -> None:
    another_month(data_dir, "2026-12", rows={"site": 1000})
    another_month(data_dir, "2027-01", rows={"site": sites})
    body = series(client)["flags"]
    assert flags({"flags": body}) == [("2027-01", "list", True)] * is_flagged
    assert [(entry["before"], entry["after"]) for entry in body] == [
        ("1000 sites", f"{sites} sites")
    ] * is_flagged


def test_the_flag_of_a_method_tells_what_changed(
    client: TestClient, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(METHOD_BREAKS, "2", ("The browser passes for plain Chrome.",))
    another_month(data_dir, "2026-12", method_version="2")
    (flag,) = series(client)["flags"]
    assert (flag["month_before"], flag["before"], flag["after"]) == ("2026-11", "1", "2")
    assert "plain Chrome" in flag["said"]


def test_a_flag_stands_at_the_first_month_after_a_gap(client: TestClient, data_dir: Path) -> None:
    another_month(data_dir, "2027-02", method_version="2")
    (flag,) = series(client)["flags"]
    assert (flag["month_before"], flag["month"]) == ("2026-11", "2027-02")


def test_without_a_choice_the_series_is_of_the_crawls_of_the_best_quality(
    client: TestClient, data_dir: Path
) -> None:
    def crawls(**parameters: str) -> list[str]:
        answer = client.get("/v1/series", params=parameters)
        return [point["crawl"] for point in answer.json()["points"]]

    assert crawls() == ["2026-11.mobile.local.tcp.web"]
    assert crawls(device="desktop") == [f"2026-{month}.desktop.local.tcp.localweb" for month in (10, 11)]
    write_release(data_dir / "releases", CrawlName(month="2026-11"), version=1)
    assert crawls() == ["2026-11.desktop.local.tcp.web"]
    assert crawls(device="desktop", vantage="any") == ["2026-11.desktop.local.tcp.web"]
    missing = client.get("/v1/series", params={"kind": "recorded"})
    problem = assert_problem(missing, "no-such-crawl", 404, mentions="desktop.local.tcp.recorded")
    assert "mobile.local.tcp.web" in problem["detail"]


def test_without_a_choice_the_series_is_of_the_crawl_that_an_answer_from_one_release_is_of(
    tmp_path: Path,
) -> None:
    def default_crawls(client: TestClient) -> tuple[str, str]:
        points = client.get("/v1/series").json()["points"]
        return points[-1]["crawl"], client.get("/v1/first-flight").json()["provenance"]["crawl"]

    recorded = [
        CrawlName(month=month, vantage=vantage, kind="recorded")
        for month, vantage in (("2013-09", "local"), ("2025-08", "ar-vpn"))
    ]
    for crawl in recorded:
        write_release_with_items(tmp_path, crawl)
    with serving(tmp_path) as client:
        assert default_crawls(client) == (str(recorded[1]),) * 2
        withdraw(write_release_with_items(tmp_path, CrawlName(month="2026-11")))
        assert default_crawls(client) == (str(recorded[1]),) * 2
        observed = CrawlName(month="2026-10", device="mobile")
        write_release_with_items(tmp_path, dataclasses.replace(observed, arm="quic"))
        write_release_with_items(tmp_path, observed)
        assert default_crawls(client) == (str(observed),) * 2


def test_months_of_several_vantages_are_one_series_only_if_no_month_has_two(
    client: TestClient, data_dir: Path
) -> None:
    another_month(data_dir, "2026-11", vantage="elsewhere")
    assert series(client)["vantages"] == ["local"]
    two = client.get("/v1/series", params={"kind": "localweb", "vantage": "any"})
    assert_problem(two, "bad-parameter", 400, mentions="elsewhere, local")


def test_a_series_of_nothing_is_a_problem(client: TestClient) -> None:
    nothing = client.get("/v1/series", params={"device": "television"})
    assert_problem(nothing, "no-such-crawl", 404, mentions="television")


@pytest.mark.parametrize("query", ["percent=0", "percent=101", "since=2026-13", "until=x"])
def test_a_percentage_or_a_month_that_is_none_is_refused(client: TestClient, query: str) -> None:
    answer = client.get(f"/v1/series?kind=localweb&{query}")
    assert_problem(answer, "bad-parameter", 400, mentions=query.partition("=")[0])


def test_the_csv_has_the_same_months_values_and_flags(client: TestClient, data_dir: Path) -> None:
    another_month(data_dir, "2027-01", method_version="2")
    answer = client.get("/v1/series.csv?kind=localweb&iw=3")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(row["month"], row["value"], row["unit"]) for row in rows] == [
        ("2026-10", "0.25", "share"),
        ("2026-11", "0.25", "share"),
        ("2026-12", "", "share"),
        ("2027-01", "0.25", "share"),
    ]
    assert [bool(row["flags"]) for row in rows] == [False, False, False, True]
    assert {row["quality"] for row in rows} == {"illustrative"}
