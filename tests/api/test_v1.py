import hashlib
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi.testclient import TestClient

from api.routes.answers import DistributionsAnswer
from schema.computed_tables import SIZES
from tests.api.conftest import serving

LOCALWEB = "2026-11.desktop.local.tcp.localweb"
MOBILE = "2026-11.mobile.local.tcp.web"


def assert_problem(
    response: httpx2.Response, kind: str, status: int, *, mentions: str = ""
) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert problem["type"] == f"/problems#{kind}"
    assert problem["status"] == status
    assert problem["instance"] == response.request.url.path
    assert {"title", "detail"} <= problem.keys()
    assert mentions in problem["detail"]
    return problem


def distribution(
    client: TestClient, measure: str = "responses", **parameters: int | list[int]
) -> dict[str, Any]:
    query: dict[str, str | int | list[int]] = {"crawl": LOCALWEB, "measure": measure, **parameters}
    response = client.get("/v1/distributions", params=query)
    assert response.status_code == 200, response.text
    counted: list[dict[str, Any]] = response.json()["distributions"]
    assert len(counted) == 1
    return counted[0]


def test_crawls_are_listed_newest_first_with_their_versions(client: TestClient) -> None:
    crawls = client.get("/v1/crawls").json()["crawls"]
    assert [(crawl["crawl"], crawl["versions"]) for crawl in crawls] == [
        (LOCALWEB, [2, 1]),
        ("2026-11.mobile.local.tcp.web", [1]),
        ("2026-10.desktop.local.tcp.localweb", [1]),
    ]


def test_only_a_crawl_of_live_sites_is_observed(client: TestClient) -> None:
    crawls = client.get("/v1/crawls").json()["crawls"]
    assert {crawl["kind"]: crawl["provenance"]["quality"] for crawl in crawls} == {
        "web": "observed",
        "localweb": "illustrative",
    }


def test_an_answer_says_its_licence_and_how_to_cite_it(client: TestClient) -> None:
    answer = client.get("/v1/distributions", params={"crawl": LOCALWEB}).json()["provenance"]
    assert answer["licence"] == "CC-BY-4.0"
    assert answer["version"] == 2
    assert client.get(answer["url"]).status_code == 200
    assert answer["cite_as"].startswith(f"Crawl {LOCALWEB} is illustrative: ")
    assert answer["cite_as"].endswith("is not to be cited.")
    live = client.get("/v1/distributions", params={"crawl": MOBILE}).json()["provenance"]
    assert MOBILE in live["cite_as"]
    (release, *_) = client.get("/v1/releases", params={"crawl": MOBILE}).json()["releases"]
    tables = sorted(
        (file["name"], file["sha256"])
        for file in release["files"]
        if file["name"].endswith(".parquet") and file["name"] != "crawl.parquet"
    )
    lines = "".join(f"{checksum}  {name}\n" for name, checksum in tables)
    assert hashlib.sha256(lines.encode()).hexdigest() in live["cite_as"]


def test_a_release_lists_files_whose_checksums_hold(client: TestClient) -> None:
    (release, *_) = client.get("/v1/releases", params={"crawl": LOCALWEB}).json()["releases"]
    assert release["manifest"]["crawl"]["month"] == "2026-11"
    assert [file["name"] for file in release["files"]] == [
        "SHA256SUMS",
        "dictionary.json",
        "distribution.parquet",
        "item.parquet",
        "manifest.json",
        "site.parquet",
    ]
    for file in release["files"]:
        response = client.get(file["url"])
        assert file["name"] != "manifest.json" or response.json() == release["manifest"]
        assert len(response.content) == file["bytes"]
        assert response.headers["etag"] == f'"{file["sha256"]}"'


def test_a_size_of_exactly_the_window_fits_and_one_byte_more_does_not(client: TestClient) -> None:
    counted = distribution(client, iw=[3, 10])
    assert [(fit["window_bytes"], fit["count"], fit["share"]) for fit in counted["fits"]] == [
        (4290, 2, 0.25),
        (14_300, 4, 0.5),
    ]


def test_the_segment_size_is_a_parameter(client: TestClient) -> None:
    (fit,) = distribution(client, iw=10, mss=1460)["fits"]
    assert (fit["window_bytes"], fit["count"]) == (14_600, 5)


def test_unknown_sizes_are_counted_separately_and_are_in_no_share(client: TestClient) -> None:
    counted = distribution(client, iw=1000, mss=65_495)
    assert (counted["known"], counted["unknown"]) == (8, 2)
    assert counted["fits"][0]["share"] == 1.0


def test_a_window_smaller_than_every_size_fits_none(client: TestClient) -> None:
    (fit,) = distribution(client, iw=1, mss=99)["fits"]
    assert (fit["count"], fit["share"]) == (0, 0.0)


def test_a_measure_without_items_has_no_share_rather_than_zero(client: TestClient) -> None:
    counted = distribution(client, "hosts", iw=10)
    assert (counted["known"], counted["unknown"], counted["quantiles"], counted["points"]) == (0, 0, [], [])
    assert counted["fits"][0]["share"] is None


def test_quantiles_are_exact_at_the_boundary(client: TestClient) -> None:
    quantiles = {q["percent"]: q["size_bytes"] for q in distribution(client)["quantiles"]}
    assert (quantiles[25], quantiles[50], quantiles[75], quantiles[99]) == (4290, 14_300, 50_000, 600_000)


def test_a_thinned_cdf_keeps_its_ends_and_true_steps(client: TestClient) -> None:
    every = [(point["size_bytes"], point["cdf"]) for point in distribution(client, points=5000)["points"]]
    thin = [(point["size_bytes"], point["cdf"]) for point in distribution(client, points=2)["points"]]
    assert every == [
        (100, 0.125),
        (4290, 0.25),
        (4291, 0.375),
        (14_300, 0.5),
        (14_301, 0.625),
        (50_000, 0.875),
        (600_000, 1.0),
    ]
    assert thin == [(100, 0.125), (14_300, 0.5), (600_000, 1.0)]


def test_an_answer_matches_its_openapi_description(client: TestClient) -> None:
    answer = client.get("/v1/distributions", params={"crawl": LOCALWEB})
    assert answer.headers["content-type"] == "application/json"
    assert DistributionsAnswer.model_validate_json(answer.content).model_dump() == answer.json()


def test_every_measure_is_answered_where_none_is_named(client: TestClient) -> None:
    counted = client.get("/v1/distributions", params={"crawl": LOCALWEB}).json()["distributions"]
    assert [entry["measure"] for entry in counted] == list(SIZES)


@pytest.mark.parametrize("measure", [None, "pages"])
def test_incomplete_responses_are_counted_apart_with_their_share(
    client: TestClient, measure: str | None
) -> None:
    query = {"crawl": LOCALWEB} | ({} if measure is None else {"measure": measure})
    answer = client.get("/v1/distributions", params=query).json()
    assert (answer["incomplete_responses"], answer["incomplete_share"]) == (2, 2 / 12)


def test_an_unknown_crawl_is_a_problem(client: TestClient) -> None:
    for crawl in ("2031-01", "2026-1", "../../etc", "*", "x" * 200):
        response = client.get("/v1/distributions", params={"crawl": crawl})
        assert_problem(response, "no-such-crawl", 404, mentions=crawl)


def test_a_measure_that_does_not_exist_is_refused_with_the_choices(client: TestClient) -> None:
    answer = client.get("/v1/distributions", params={"crawl": LOCALWEB, "measure": "bytes"})
    assert_problem(answer, "no-such-choice", 422, mentions="responses_first, responses_iw_limited")


@pytest.mark.parametrize(
    ("query", "mentions"),
    [
        (f"crawl={LOCALWEB}&iw=0", "iw"),
        (f"crawl={LOCALWEB}&iw=1001", "iw"),
        (f"crawl={LOCALWEB}&iw=ten", "iw"),
        (f"crawl={LOCALWEB}&iw=", "iw"),
        (f"crawl={LOCALWEB}&iw=3&iw=x", "iw"),
        (f"crawl={LOCALWEB}&" + "&".join(f"iw={iw}" for iw in range(1, 22)), "iw"),
        (f"crawl={LOCALWEB}&mss=0", "mss"),
        (f"crawl={LOCALWEB}&mss=1e9999", "mss"),
        (f"crawl={LOCALWEB}&points=99999999", "points"),
        ("crawl=" + "x" * 201, "crawl"),
        ("crawl=2026-10&crawl=2026-11", "more than once"),
    ],
)
def test_a_bad_parameter_is_a_problem_that_names_it(client: TestClient, query: str, mentions: str) -> None:
    assert_problem(client.get(f"/v1/distributions?{query}"), "bad-parameter", 400, mentions=mentions)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/distributions?crawl=2026-10&IW=3",
        "/v1/crawls?top=10",
        "/v1/releases?month=2026-11",
        "/reports/2026/?page=1",
        "/?utm_source=x",
    ],
)
def test_an_unknown_parameter_is_refused(client: TestClient, path: str) -> None:
    assert_problem(client.get(path), "unknown-parameter", 400)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/v2/crawls", "not-found"),
        ("/static/nothing.css", "not-found"),
        ("/reports/1999", "no-such-report"),
        ("/reports/2026/nothing.csv", "no-such-file"),
        (f"/releases/{LOCALWEB}/v2/nothing.parquet", "no-such-file"),
        (f"/releases/{LOCALWEB}/v3", "no-such-crawl"),
        ("/releases/2031-01", "no-such-crawl"),
    ],
)
def test_a_missing_resource_is_a_problem(client: TestClient, path: str, kind: str) -> None:
    assert_problem(client.get(path), kind, 404)


@pytest.mark.parametrize(
    "path",
    [f"/releases/{LOCALWEB}/v1", "/v1/first-flight?iw=3&mss=1430", "/documents/methods", "/reports"],
)
def test_an_address_with_a_slash_at_its_end_is_that_without(client: TestClient, path: str) -> None:
    address, mark, query = path.partition("?")
    with_slash = client.get(f"{address}/{mark}{query}")
    assert (with_slash.status_code, with_slash.content) == (200, client.get(path).content)
    assert [answer.headers["location"] for answer in with_slash.history] == [path]


@pytest.mark.parametrize("path", ["/v1/nothing/", "/nothing/", "//evil.test/releases/", "/documents/nothing"])
def test_a_slash_leads_to_no_address_that_is_not_there(client: TestClient, path: str) -> None:
    answer = client.get(f"http://testserver{path}", follow_redirects=False)
    assert_problem(answer, "not-found", 404)


def test_an_address_whose_slash_is_its_own_does_not_lead_to_another_one(client: TestClient) -> None:
    for path, kind in (("/reports/1999/v1/", "no-such-report"), ("/reports/2026/v0/", "no-such-file")):
        assert_problem(client.get(path, follow_redirects=False), kind, 404)


def test_an_invalid_year_is_a_problem(client: TestClient) -> None:
    assert_problem(client.get("/reports/next"), "bad-parameter", 400, mentions="year")


def test_writing_is_refused(client: TestClient) -> None:
    for path in ("/", "/v1/crawls", f"/releases/{LOCALWEB}/v1/manifest.json"):
        answer = client.post(path)
        assert_problem(answer, "method-not-allowed", 405, mentions="Allow")
        assert answer.headers["allow"] == "GET, HEAD"


def test_an_address_that_nothing_has_leads_to_the_pages_and_the_calls(client: TestClient) -> None:
    assert_problem(client.get("/nothing"), "not-found", 404, mentions="/docs")
    page = client.get("/nothing", headers={"Accept": "text/html"}).text
    assert "No page, file or call of the API has this address" in page


def test_a_broken_release_is_a_problem_that_reveals_no_details(client: TestClient, data_dir: Path) -> None:
    for path in data_dir.glob("releases/month=2026-10/**/distribution.parquet"):
        path.write_bytes(b"not parquet")
    response = client.get("/v1/distributions", params={"crawl": LOCALWEB.replace("2026-11", "2026-10")})
    problem = assert_problem(response, "damaged-release", 503, mentions="distribution.parquet")
    assert str(data_dir) not in json.dumps(problem)
    assert response.headers["x-content-type-options"] == "nosniff"


def test_a_running_crawl_is_shown_with_the_time_of_the_count(client: TestClient) -> None:
    (entry,) = client.get("/v1/progress").json()["crawls"]
    assert (entry["crawl"], entry["done"], entry["planned"]) == (
        "2026-12.desktop.local.tcp.web",
        2500,
        10_000,
    )
    assert entry["at"] == "2026-12-01T06:30:00Z"
    # Crawlers and single visits, which the crawl's page shows, may change; a field of the API stays.
    assert entry.keys() == {
        *("crawl", "at", "planned", "done", "visits", "received_bytes", "visits_per_hour", "minutes_left"),
        "outcomes",
    }
    assert "2\u202f500 of 10\u202f000 sites" in client.get("/").text


def test_an_empty_library_answers_and_says_what_to_run(tmp_path: Path) -> None:
    with serving(tmp_path / "none") as client:
        assert client.get("/v1/crawls").json() == {"crawls": [], "damaged": [], "withdrawn": []}
        assert client.get("/v1/releases").json() == {
            "releases": [],
            "next": None,
            "damaged": [],
            "withdrawn": [],
        }
        assert client.get("/v1/reports").json() == {"reports": [], "damaged": []}
        assert "firstflight demo" in client.get("/").text


def test_the_openapi_says_that_a_field_is_in_every_answer_though_it_may_be_null(client: TestClient) -> None:
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    for name in ("ChangeRow", "DistributionsAnswer", "FitAnswer", "SeriesPoint"):
        assert set(schemas[name]["required"]) == schemas[name]["properties"].keys(), name


def test_the_openapi_describes_every_parameter_of_every_call(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/v1/crawls", "/v1/distributions", "/v1/series.{suffix}", "/reports/{year}"} <= paths.keys()
    for path, methods in paths.items():
        for parameter in methods["get"].get("parameters", []):
            described = parameter.get("description") or parameter["schema"].get("description")
            assert described, (path, parameter["name"])
