"""The suffix of an address chooses the format, whatever else a request says."""

import csv
import io

import pytest
from fastapi.testclient import TestClient

from api.formats.offered import FORMATS
from tests.api.test_kept_answers import CRAWL
from tests.api.test_v1 import LOCALWEB, assert_problem

IN_A_TABLE = [
    "/v1/series?kind=localweb&iw=3",
    "/v1/outside-series?series=pervasive-sizes",
    f"/v1/first-flight?crawl={CRAWL}",
    "/v1/over-the-years",
]
IN_JSON = ["crawls", "progress", "releases", "distributions", "initial-windows", "reports", "errata"]
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize("path", ["/v1/crawls", f"/v1/distributions?crawl={CRAWL}&iw=3", *IN_A_TABLE])
@pytest.mark.parametrize("accept", ["", "text/csv", "image/png, application/json;q=0", BROWSER])
def test_an_address_without_a_suffix_is_json(client: TestClient, path: str, accept: str) -> None:
    answer = client.get(path, headers={"Accept": accept})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert "accept" not in answer.headers.get("vary", "").lower().split(", ")


@pytest.mark.parametrize("path", IN_A_TABLE)
def test_a_suffix_chooses_the_format(client: TestClient, path: str) -> None:
    bare, _, query = path.partition("?")
    table = client.get(f"{bare}.csv?{query}", headers={"Accept": "application/json"})
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    assert len(list(csv.reader(io.StringIO(table.text)))) > 1
    assert client.get(f"{bare}.json?{query}").json() == client.get(path).json()


@pytest.mark.parametrize("path", [entry for entry in IN_JSON if entry != "initial-windows"])
def test_an_address_that_is_json_alone_has_its_suffix_too(client: TestClient, path: str) -> None:
    with_suffix = client.get(f"/v1/{path}.json")
    assert (with_suffix.status_code, with_suffix.headers["content-type"]) == (200, "application/json")
    assert with_suffix.json() == client.get(f"/v1/{path}").json()
    described = client.get("/openapi.json").json()["paths"]
    assert list(described[f"/v1/{path}"]["get"]["responses"]["200"]["content"]) == ["application/json"]
    assert f"/v1/{path}.{{suffix}}" not in described


def test_the_openapi_has_the_media_types_of_the_formats(client: TestClient) -> None:
    described = client.get("/openapi.json").json()["paths"]["/v1/over-the-years.{suffix}"]["get"]
    assert list(described["responses"]["200"]["content"]) == ["application/json", "text/csv"]


@pytest.mark.parametrize("suffix", ["xlsx", "JSON", "csv.gz", "..", "%00", "svg"])
@pytest.mark.parametrize(
    ("path", "offered"),
    [
        ("visits", [entry.suffix for entry in FORMATS]),
        ("first-flight", ["json", "csv"]),
        ("over-the-years", ["json", "csv"]),
        *((path, ["json"]) for path in IN_JSON),
    ],
)
def test_a_suffix_that_is_not_offered_is_not_found_and_those_that_are_are_named(
    client: TestClient, path: str, offered: list[str], suffix: str
) -> None:
    problem = assert_problem(client.get(f"/v1/{path}.{suffix}"), "no-such-format", 404)
    assert [entry["suffix"] for entry in problem["offered"]] == [f".{entry}" for entry in offered]


@pytest.mark.parametrize("values", ["iw=3&iw=10,16", "iw=3,10&iw=16", "iw=3, 10 ,16"])
def test_values_are_repeated_or_have_commas_between_them(client: TestClient, values: str) -> None:
    first_flight = client.get(f"/v1/first-flight?crawl={CRAWL}&{values}").json()
    assert [entry["iw"] for entry in first_flight["windows"]] == [3, 10, 16]
    assert {name: first_flight[name] for name in first_flight["windows"][0]} == first_flight["windows"][0]
    fits = client.get(f"/v1/distributions?crawl={CRAWL}&measure=responses&{values}").json()["distributions"][
        0
    ]["fits"]
    assert [(entry["iw"], entry["share"]) for entry in fits] == [
        (entry["iw"], entry["share"]) for entry in first_flight["windows"]
    ]
    months = client.get(f"/v1/series?kind=localweb&{values}").json()["points"]
    assert [(entry["iw"], entry["month"]) for entry in months] == [
        (iw, month) for iw in (3, 10, 16) for month in ("2026-10", "2026-11")
    ]
    table = list(csv.DictReader(io.StringIO(client.get(f"/v1/first-flight.csv?crawl={CRAWL}&{values}").text)))
    assert [(row["iw"], float(row["share"])) for row in table] == [
        (str(entry["iw"]), entry["share"]) for entry in fits
    ]
    page = client.get(f"/explore?crawl={CRAWL}&measure=responses&{values}").text
    assert all(f"IW {iw}" in page for iw in (3, 10, 16))


@pytest.mark.parametrize("query", ["iw=", "iw=,", "iw=3;10", "iw=3,x", "mss=1430,1460", "protocol=h2,h3"])
def test_a_list_without_a_value_and_several_values_of_what_takes_one_are_refused(
    client: TestClient, query: str
) -> None:
    status = 422 if query.startswith("protocol") else 400
    assert client.get(f"/v1/first-flight?crawl={LOCALWEB}&{query}").status_code == status
