"""Names and addresses that never move: a whole name and a version say what is meant, for good."""

import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from schema.crawls import CrawlName
from tests.api.conftest import serving, write_release
from tests.api.test_v1 import assert_problem

LOCALWEB = "2026-11.desktop.local.tcp.localweb"
MOBILE = "2026-11.mobile.local.tcp.web"
LINK = re.compile(r'<([^>]+)>; rel="([a-z-]+)"')


def links(client: TestClient, path: str) -> dict[str, str]:
    answer = client.get(path, follow_redirects=False)
    assert answer.status_code == 200, answer.text
    return {relation: target for target, relation in LINK.findall(answer.headers["link"])}


@pytest.mark.parametrize(
    ("short", "whole"),
    [
        ("/releases/2026-11.mobile", f"/releases/{MOBILE}"),
        ("/releases/2026-11.mobile/v1", f"/releases/{MOBILE}/v1"),
        ("/releases/2026-11.mobile.local/v1/manifest.json", f"/releases/{MOBILE}/v1/manifest.json"),
    ],
)
def test_a_short_name_in_a_path_redirects_to_the_whole_one_and_no_cache_keeps_that(
    client: TestClient, short: str, whole: str
) -> None:
    answer = client.get(short, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, whole)
    assert answer.headers["cache-control"] == "no-store"
    assert "etag" not in answer.headers
    assert client.get(short).status_code == 200


@pytest.mark.parametrize("name", ["2026-11.mobile", "2026-11.mobile/v1", "2026-11.mobile.local.tcp", MOBILE])
def test_a_short_name_in_a_query_is_answered_as_the_whole_one(client: TestClient, name: str) -> None:
    for path in ("/v1/distributions?iw=3&", "/v1/first-flight.csv?", "/explore.csv?"):
        short = client.get(f"{path}crawl={name}", follow_redirects=False)
        assert (short.status_code, short.content) == (200, client.get(f"{path}crawl={MOBILE}").content)
    assert MOBILE in links(client, f"/v1/distributions?crawl={name}")["canonical"]


def test_without_a_crawl_an_answer_is_of_the_newest_of_the_best_quality(
    client: TestClient, data_dir: Path
) -> None:
    assert client.get("/v1/first-flight").json()["provenance"]["crawl"] == MOBILE
    write_release(data_dir / "releases", CrawlName(month="2026-12", kind="localweb"), version=1)
    assert client.get("/v1/first-flight").json()["provenance"]["crawl"] == MOBILE
    write_release(data_dir / "releases", CrawlName(month="2026-12"), version=1)
    assert client.get("/v1/first-flight").json()["provenance"]["crawl"] == "2026-12.desktop.local.tcp.web"


def test_the_only_crawl_whose_name_begins_so_is_meant_where_the_default_one_is_not_released(
    client: TestClient, data_dir: Path
) -> None:
    write_release(data_dir / "releases", CrawlName(month="2026-12", kind="localweb"), version=1)
    answer = client.get("/v1/first-flight?crawl=2026-12").json()
    assert answer["provenance"]["crawl"] == "2026-12.desktop.local.tcp.localweb"


@pytest.mark.parametrize(
    "path",
    [
        "/v1/series?release={}/v1",
        "/v1/sites.csv?crawl=2026-12.desktop.local.tcp.localweb&before={}/v1",
        "/v1/first-flight?crawl={}&version=1",
        "/v1/first-flight?crawl={}/v1",
        "/v1/errata?crawl={}&version=1",
    ],
)
def test_with_a_version_a_short_name_means_no_other_crawl_than_the_default_one(
    client: TestClient, data_dir: Path, path: str
) -> None:
    only = CrawlName(month="2026-12", kind="localweb")
    write_release(data_dir / "releases", only, version=1)
    assert_problem(client.get(path.format("2026-12")), "bad-parameter", 400, mentions=f"write {only}")
    assert_problem(client.get("/v1/series?release=2026-11/v1"), "no-such-crawl", 404, mentions=MOBILE)
    write_release(data_dir / "releases", CrawlName(month="2026-12"), version=1)
    pinned = client.get("/v1/series?release=2026-12/v1").json()["points"]
    assert {point["crawl"] for point in pinned} == {"2026-12.desktop.local.tcp.web"}


def test_parts_that_a_name_leaves_out_are_desktop_local_tcp_web_whatever_else_is_released(
    client: TestClient, data_dir: Path
) -> None:
    problem = assert_problem(client.get("/releases/2026-11/v1"), "no-such-crawl", 404, mentions=MOBILE)
    assert problem["crawls"] == [LOCALWEB, MOBILE]
    write_release(data_dir / "releases", CrawlName(month="2026-11"), version=1)
    answer = client.get("/releases/2026-11/v1", follow_redirects=False)
    assert answer.headers["location"] == "/releases/2026-11.desktop.local.tcp.web/v1"


def test_a_second_crawl_of_the_month_neither_breaks_nor_changes_an_address(
    client: TestClient, data_dir: Path
) -> None:
    releases = data_dir / "releases"
    write_release(releases, CrawlName(month="2026-12"), version=1)
    whole = "2026-12.desktop.local.tcp.web"
    addresses = [
        "/releases/2026-12/v1",
        "/releases/2026-12/v1/distribution.parquet",
        f"/releases/{whole}/v1/distribution.parquet",
        f"/v1/distributions?crawl={whole}&version=1&iw=10",
        "/v1/distributions?crawl=2026-12&iw=10",
    ]
    before = [client.get(address) for address in addresses]
    assert {licence.status_code for licence in before} == {200}
    for other in (
        CrawlName(month="2026-12", device="mobile"),
        CrawlName(month="2026-12", arm="quic"),
        CrawlName(month="2026-12", vantage="a"),
        CrawlName(month="2026-12", kind="a"),
    ):
        write_release(releases, other, version=1)
    for licence, address in zip(before, addresses, strict=True):
        after = client.get(address)
        assert (after.status_code, after.content, after.url) == (200, licence.content, licence.url)


def test_the_whole_name_without_a_version_redirects_to_the_newest(client: TestClient) -> None:
    answer = client.get(f"/releases/{LOCALWEB}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, f"/releases/{LOCALWEB}/v2")
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("number", ["01", "1.0", "%2B1", "%201", "0001.00"])
def test_a_number_that_is_written_otherwise_redirects_to_the_one_address(
    client: TestClient, number: str
) -> None:
    for path in (f"/releases/{LOCALWEB}/v{{}}", f"/releases/{LOCALWEB}/v{{}}/manifest.json"):
        answer = client.get(path.format(number), follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (307, path.format(1))
        assert answer.headers["cache-control"] == "no-store"
    visit = client.get(f"/v1/pages/{number}?crawl={LOCALWEB}", follow_redirects=False)
    assert visit.headers["location"] == f"/v1/pages/1?crawl={LOCALWEB}"


@pytest.mark.parametrize("path", ["/sites", "/v1/sites"])
def test_a_host_has_one_address(client: TestClient, path: str) -> None:
    answer = client.get(f"{path}/Www.Site1.TEST.", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, f"{path}/www.site1.test")


def test_only_a_whole_name_with_a_version_is_immutable(client: TestClient) -> None:
    paths = {
        f"/releases/{LOCALWEB}/v1/manifest.json": True,
        "/releases/2026-11.mobile/v1/manifest.json": False,
        f"/releases/{LOCALWEB}": False,
        f"/v1/distributions?crawl={LOCALWEB}": False,
    }
    targets = {
        path: "immutable" in client.get(path, follow_redirects=False).headers["cache-control"]
        for path in paths
    }
    assert targets == paths


@pytest.mark.parametrize("path", [f"/v1/distributions?crawl={LOCALWEB}", f"/v1/releases?crawl={LOCALWEB}"])
def test_a_version_is_pinned_by_a_parameter(client: TestClient, path: str) -> None:
    for version in (1, 2):
        answer = client.get(f"{path}&version={version}").json()
        (targets,) = [licence["provenance"] for licence in answer.get("releases", [answer])]
        assert (targets["crawl"], targets["version"]) == (LOCALWEB, version)
    for wrong in ("0", "x", "1.5"):
        assert_problem(client.get(f"{path}&version={wrong}"), "bad-parameter", 400, mentions="version")
    assert_problem(client.get(f"{path}&version=3"), "no-such-crawl", 404, mentions="version 3")


def test_a_version_without_a_crawl_is_refused(client: TestClient) -> None:
    assert_problem(client.get("/v1/releases?version=1"), "bad-parameter", 400, mentions="crawl")


def test_the_canonical_address_of_an_answer_pins_its_version(client: TestClient) -> None:
    targets = links(client, f"/v1/distributions?crawl={LOCALWEB}&iw=3&iw=10")
    assert targets["canonical"] == f"/v1/distributions?iw=3&iw=10&crawl={LOCALWEB}&version=2"
    pinned = links(client, targets["canonical"])
    assert pinned["canonical"] == targets["canonical"]
    assert links(client, f"/v1/distributions?crawl={LOCALWEB}&version=1")["canonical"].endswith("version=1")


@pytest.mark.parametrize(
    ("path", "cite_as"),
    [
        (f"/v1/distributions?crawl={LOCALWEB}", f"/releases/{LOCALWEB}/v2"),
        (f"/v1/releases?crawl={LOCALWEB}&version=1", f"/releases/{LOCALWEB}/v1"),
        (f"/releases/{LOCALWEB}/v1", f"/releases/{LOCALWEB}/v1"),
        (f"/releases/{LOCALWEB}/v1/distribution.parquet", f"/releases/{LOCALWEB}/v1"),
        ("/reports/2026/v1/", "/reports/2026/v1/"),
        ("/reports/2026/v1/report.json", "/reports/2026/v1/"),
        ("/reports/2026/errata", "/reports/2026/errata"),
        ("/v1/crawls", "/v1/crawls"),
        ("/v1/progress", "/v1/progress"),
        ("/", "/"),
        ("/docs", "/docs"),
    ],
)
def test_every_answer_says_where_it_is_how_to_cite_it_its_licence_and_its_description(
    client: TestClient, path: str, cite_as: str
) -> None:
    targets = links(client, path)
    assert targets["cite-as"] == cite_as
    assert targets["license"] == "https://creativecommons.org/licenses/by/4.0/"
    for relation in ("canonical", "cite-as", "describedby"):
        assert client.get(targets[relation]).status_code == 200, (relation, targets[relation])


def test_a_problem_is_described_by_its_type_and_is_not_cited(client: TestClient, data_dir: Path) -> None:
    for accept, kind in (
        ("text/html", "text/html; charset=utf-8"),
        ("Text/HTML,application/xhtml+xml,*/*;q=0.8", "text/html; charset=utf-8"),
        ("*/*", "application/problem+json"),
        ("application/json, text/html;q=0.5", "application/problem+json"),
    ):
        answer = client.get("/nothing", headers={"Accept": accept})
        assert answer.headers["content-type"] == kind
        assert LINK.findall(answer.headers["link"]) == [("/problems#not-found", "describedby")]
    assert 'id="not-found"' in client.get("/problems").text
    with serving(data_dir / "releases", base_url="https://sizes.test/") as public:
        assert "<https://sizes.test/problems#not-found>" in public.get("/nothing").headers["link"]


@pytest.mark.parametrize("path", ["/v1/outside-series", "/v1/outside-series.csv", "/over-the-years"])
def test_what_others_counted_has_their_licences_and_is_described_with_its_sources(
    client: TestClient, path: str
) -> None:
    targets = LINK.findall(client.get(path).headers["link"])
    pages = [f"https://spdx.org/licenses/{licence}.html" for licence in ("Apache-2.0", "MIT")]
    assert [target for target, relation in targets if relation == "license"] == pages
    assert ("/over-the-years#series", "describedby") in targets
    if path.startswith("/v1"):
        licence = LINK.findall(client.get(f"{path}?series=pervasive-sizes").headers["link"])
        assert [target for target, relation in licence if relation == "license"] == pages[:1]


def test_code_has_its_own_licence(client: TestClient) -> None:
    assert {
        links(client, path)["license"]
        for path in ("/static/style.css", "/documents/images/population-mlab-2025-10.svg")
    } == {"https://spdx.org/licenses/MIT.html"}
