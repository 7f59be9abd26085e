"""Pages of what is cited: releases, reports and figures say what they are, and lead to their data and
citations."""

import datetime
import html
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient

from releases.citation.forms import FORMS
from schema.authors import Author
from schema.computed_tables import MEASURES
from schema.crawls import CrawlName
from storage.report_versions import Publication, find_version, withdraw
from storage.sums import checksum_of
from tests.api.conftest import own_or_shared, serving, write_release, write_release_with_items
from tests.api.test_v1 import assert_problem
from tests.factories.published_report import CITABLE, SECOND, write_version

pytestmark = pytest.mark.process

OBSERVED = CrawlName(month="2026-10")
NAME = CrawlName(month="2026-11", kind="localweb")
"""A crawl whose release is illustrative, and has no visits."""
PAGE = f"/releases/{OBSERVED}/v1"
REPORT = "/reports/2026/v1"
FIGURES = f"{REPORT}/figures"
PARTS = (
    "Title",
    "Authors",
    "Published",
    "Version",
    "Checksum",
    "Signature",
    "Licence",
    "Cite as",
    "Citation",
)


def rows_of(page: str) -> dict[str, str]:
    definitions = re.findall(r"<dt>(.*?)</dt><dd[^>]*>(.*?)</dd>", page, re.DOTALL)
    return {name: html.unescape(re.sub("<[^>]*>", "", value)) for name, value in definitions}


def write_citable(root: Path, whole_report: Path) -> Path:
    """Write a release of many sites with the days of its visits, an illustrative one, a whole report, and
    two versions of a year's report."""
    visits = root / "visits.parquet"
    days = [datetime.datetime(2026, 10, day, 23, 59, tzinfo=datetime.UTC) for day in (7, 3, 5)]
    pq.write_table(pa.table({"started_at": days}), visits)
    write_release_with_items(
        root / "releases",
        OBSERVED,
        others={"visit.parquet": visits},
        authors=(Author(name="Lovelace", given="Ada", orcid="https://orcid.org/0000-0002-1825-0097"),),
    )
    write_release(root / "releases", NAME, version=1)
    shutil.copytree(whole_report, root / "reports" / "2026" / "v1")
    for publication in (Publication(date="2026-01-15"), SECOND):
        write_version(root / "reports" / "2025", publication, **CITABLE)
    return root


@pytest.fixture
def library(tmp_path: Path, whole_report: Path) -> Path:
    return write_citable(tmp_path, whole_report)


@pytest.fixture
def own(library: Path) -> Iterator[TestClient]:
    with serving(library / "releases") as client:
        yield client


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, whole_report: Path) -> Iterator[TestClient]:
    library = write_citable(tmp_path_factory.mktemp("library"), whole_report)
    with serving(library / "releases") as client:
        yield client


@pytest.fixture
def client(request: pytest.FixtureRequest) -> TestClient:
    """A client of a service over the library, which a test shares with others unless it asks for it."""
    return own_or_shared(request, "own", "shared")


@pytest.mark.parametrize(
    ("path", "licence", "described"),
    [
        (PAGE, "creativecommons.org/licenses/by/4.0/", f"{PAGE}/dictionary.json"),
        (f"{FIGURES}/cdf", "creativecommons.org/licenses/by/4.0/", "/reports/2026/errata"),
    ],
)
def test_each_page_has_its_metadata_and_every_form_of_its_citation(
    client: TestClient, path: str, licence: str, described: str
) -> None:
    answer = client.get(path)
    rows = rows_of(answer.text)
    assert {name for name in PARTS if not rows.get(name)} == set()
    assert "Observed" in rows
    assert rows["Citation"] == ", ".join(form.title for form in FORMS.values())
    addresses = re.findall(r'href="([^"]*/cite\.[^"]*)"', answer.text)
    assert [client.get(html.unescape(address)).status_code for address in addresses] == [200] * len(FORMS)
    links = answer.headers["link"]
    assert f'<{path}>; rel="canonical"' in links
    assert f'<{path}>; rel="cite-as"' in links
    assert re.search(rf'<https://{re.escape(licence)}>; rel="license"', links)
    assert re.search(rf'<{re.escape(described)}>; rel="describedby"', links)


def test_a_release_was_observed_on_the_days_on_which_its_visits_began(client: TestClient) -> None:
    page = client.get(PAGE).text
    assert rows_of(page)["Observed"] == "2026-10-03 to 2026-10-07"
    assert rows_of(page)["Authors"] == "Lovelace, Ada"
    assert 'href="https://orcid.org/0000-0002-1825-0097"' in page


def test_a_release_without_visits_was_observed_in_its_month_and_a_damaged_one_is_a_problem(
    client: TestClient, library: Path
) -> None:
    month = CrawlName(month="2026-08")
    write_release_with_items(library / "releases", month)
    assert rows_of(client.get(f"/releases/{month}/v1").text)["Observed"] == "2026-08"
    nothing = library / "no-parquet"
    nothing.write_bytes(b"PAR1")
    damaged = CrawlName(month="2026-07")
    write_release_with_items(library / "releases", damaged, others={"visit.parquet": nothing})
    assert_problem(client.get(f"/releases/{damaged}/v1"), "damaged-release", 503, mentions="visit.parquet")


def test_a_page_states_the_checksum_of_the_release_and_why_its_version_came(
    client: TestClient, library: Path
) -> None:
    rows = rows_of(client.get(PAGE).text)
    assert checksum_of(OBSERVED.path(library / "releases", version=1)) in rows["Checksum"]
    rows = rows_of(client.get("/reports/2025/v2/figures/fig-gains").text)
    assert rows["Version"] == "2, made because: two <sites> were withdrawn"
    assert checksum_of(library / "reports/2025/v2") in rows["Checksum"]


def test_a_release_leads_to_each_of_its_measures(client: TestClient) -> None:
    page = client.get(PAGE).text
    for measure in MEASURES:
        address = f"/explore?crawl={OBSERVED}%2Fv1&amp;measure={measure}"
        assert f'href="{address}"' in page
        assert client.get(html.unescape(address)).status_code == 200


def test_a_figure_has_its_drawing_its_data_its_query_and_its_command(
    client: TestClient, whole_report: Path
) -> None:
    figures = [
        figure
        for section in json.loads((whole_report / "report.json").read_text())["sections"]
        for figure in section["figures"]
    ]
    assert len(figures) >= 6
    errata = client.get("/reports/2026/errata").text
    for figure in figures:
        path = f"{FIGURES}/{figure['id']}"
        assert f'href="{path}"' in errata
        page = html.unescape(client.get(path).text)
        assert f"<pre>{figure['query']}</pre>" in page
        assert f"<pre>firstflight report recompute 2026 v1 {figure['id']}</pre>" in page
        assert f"{REPORT}/#{figure['id']}" in page
        assert len(page.encode()) < 60_000
        (drawing,) = re.findall(r'<img src="([^"]*)"', page)
        assert (
            client.get(drawing).content == (whole_report / f"forms/figures/{figure['id']}.svg").read_bytes()
        )
    lines = (whole_report / "forms/figures/cdf.csv").read_text().splitlines()
    page = client.get(f"{FIGURES}/cdf").text
    assert f"of {len(lines) - 1} rows" in page
    for value in lines[1].split(","):
        assert f">{value}</td>" in page


def test_a_file_of_a_report_is_not_taken_for_a_figure(client: TestClient) -> None:
    assert_problem(client.get(f"{FIGURES}/cdf.svg"), "no-such-file", 404)
    assert_problem(client.get(f"{FIGURES}/none"), "not-citable", 404, mentions="fig-ledger")
    assert client.get(f"{REPORT}/forms/figures/cdf.svg").status_code == 200


def test_a_figure_of_a_superseded_or_withdrawn_version_says_so(client: TestClient, library: Path) -> None:
    older, newest = (f"/reports/2025/v{number}/figures/fig-gains" for number in (1, 2))
    assert "Superseded." in client.get(older).text
    assert "Superseded." not in client.get(newest).text
    withdraw(find_version(library / "reports", 2025, 1), reason="the kernel was <wrong>", date="2027-04-01")
    page = client.get(older).text
    assert "<strong>Withdrawn:</strong> the kernel was &lt;wrong&gt;." in page
    assert "(withdrawn)" in rows_of(page)["Title"]
    assert "(withdrawn)" in client.get("/reports/2025/v1/cite.bib").text


def test_a_hostile_title_is_text_on_the_page_of_a_figure(library: Path) -> None:
    hostile = {**CITABLE, "sections": [{"figures": [{"id": "fig-x", "title": "<script>alert(1)</script>"}]}]}
    write_version(library / "reports" / "2024", Publication(date="2025-01-15"), **hostile)
    with serving(library / "releases") as client:
        for path in ("/reports/2024/v1/figures/fig-x", "/reports/2024/errata"):
            answer = client.get(path)
            assert answer.status_code == 200
            assert "<script>" not in answer.text


def test_a_report_has_one_line_to_cite_it_wherever_it_stands(client: TestClient, whole_report: Path) -> None:
    line = json.loads((whole_report / "report.json").read_text())["citation"]["line"]
    report, _ = client.get("/v1/reports").json()["reports"]
    errata, page = client.get("/reports/2026/errata").text, client.get(f"{REPORT}/").text
    (version,) = report["versions"]
    assert version["cite_as"] == line
    assert f'<dd class="cite">{line}</dd>' in errata
    for form in FORMS:
        link = f'href="{REPORT}/cite.{form}"'
        assert link in errata
        assert link in page[: page.index("</aside>")]
