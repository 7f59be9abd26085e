"""Citations at the addresses of releases and reports."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from pybtex.database import parse_string

from api.app import create_app
from releases.citation.forms import FORMS
from tests.api.test_v1 import assert_problem
from tests.factories.published_report import CITABLE

LOCALWEB = "/releases/2026-11.desktop.local.tcp.localweb/v1"
MOBILE = "/releases/2026-11.mobile.local.tcp.web/v1"
REPORT = "/reports/2026/v1"


@pytest.fixture
def public(data_dir: Path) -> Iterator[TestClient]:
    """A service with a public address, and a report with a figure."""
    (data_dir / "reports/2026/v1/report.json").write_text(json.dumps({"year": 2026, **CITABLE}))
    app = create_app(
        data_dir / "releases", data_dir / "reports", base_url="https://sizes.test", looked_at_every_s=0
    )
    with TestClient(app, base_url="https://sizes.test") as client:
        yield client


@pytest.mark.parametrize("form", FORMS)
def test_each_form_has_an_address_and_a_media_type(public: TestClient, form: str) -> None:
    for place in (MOBILE, REPORT):
        answer = public.get(f"{place}/cite.{form}")
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == FORMS[form].media_type
        assert f"https://sizes.test{place}" in answer.text
        assert 'rel="cite-as"' in answer.headers["link"]
        assert public.head(f"{place}/cite.{form}").headers["etag"] == answer.headers["etag"]


def test_a_measure_is_cited_by_the_address_of_its_distribution_in_that_version(public: TestClient) -> None:
    answer = public.get(f"{MOBILE}/cite.bib?measure=responses")
    (entry,) = parse_string(answer.text, "bibtex").entries.values()
    assert "measure responses" in entry.fields["title"]
    assert public.get(entry.fields["url"]).json()["provenance"]["version"] == 1
    assert_problem(public.get(f"{MOBILE}/cite.bib?measure=none"), "bad-parameter", 400)


def test_a_figure_is_cited_by_its_place_in_the_report(public: TestClient) -> None:
    answer = public.get(f"{REPORT}/cite.bib?figure=fig-gains")
    (entry,) = parse_string(answer.text, "bibtex").entries.values()
    assert entry.fields["title"] == "{Gains. Figure fig-gains of: First flights in 2026}"
    assert entry.fields["url"] == f"https://sizes.test{REPORT}/#fig-gains"
    problem = assert_problem(public.get(f"{REPORT}/cite.bib?figure=fig-none"), "not-citable", 404)
    assert "fig-gains" in problem["detail"]


def test_illustrative_data_are_refused_in_a_sentence(client: TestClient) -> None:
    problem = assert_problem(client.get(f"{LOCALWEB}/cite.bib"), "not-citable", 404)
    assert problem["detail"].endswith("is no evidence about the web, and is not to be cited.")
    assert "cite.bib" not in client.get(LOCALWEB).text
    assert f"{MOBILE}/cite.bib" in client.get(MOBILE).text


def test_a_report_from_before_citations_has_none(client: TestClient) -> None:
    assert_problem(client.get(f"{REPORT}/cite.ris"), "not-citable", 404, mentions="older than citations")


def test_another_suffix_is_a_problem_that_lists_those_there_are(client: TestClient) -> None:
    for place in (MOBILE, REPORT.replace("reports", "reports")):
        assert client.get(f"{place}/cite.docx").status_code == 404
    assert_problem(client.get(f"{MOBILE}/cite.docx"), "not-found", 404, mentions="csl.json")


def test_a_short_name_redirects_to_the_citation_of_the_whole_one(client: TestClient) -> None:
    answer = client.get("/releases/2026-11.mobile/v1/cite.csl.json", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, f"{MOBILE}/cite.csl.json")
