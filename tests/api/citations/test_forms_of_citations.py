"""Citations at the addresses of releases and reports."""

import json
import re
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from pybtex.database import parse_string

from releases.citation.forms import FORMS
from tests.api.conftest import serving, write_library
from tests.api.test_v1 import assert_problem
from tests.factories.published_report import CITABLE

LOCALWEB = "/releases/2026-11.desktop.local.tcp.localweb/v1"
MOBILE = "/releases/2026-11.mobile.local.tcp.web/v1"
REPORT = "/reports/2026/v1"

ADDRESS = re.compile(r"https://sizes\.test[^\s\"'}<,]*")


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    data_dir = write_library(tmp_path_factory.mktemp("library"))
    (data_dir / "reports/2026/v1/report.json").write_text(json.dumps({"year": 2026, **CITABLE}))
    with serving(data_dir / "releases", base_url="https://sizes.test") as client:
        yield client


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("cited", "page"),
    [
        (f"{MOBILE}/cite.FORM", MOBILE),
        (f"{REPORT}/cite.FORM", f"{REPORT}/"),
        (f"{REPORT}/cite.FORM?figure=fig-gains", f"{REPORT}/figures/fig-gains"),
    ],
)
def test_the_address_in_every_form_leads_to_the_page_of_what_is_cited(
    public: TestClient, form: str, cited: str, page: str
) -> None:
    citation = public.get(cited.replace("FORM", form))
    assert (citation.status_code, citation.headers["content-type"]) == (200, FORMS[form].media_type)
    assert citation.links["cite-as"]["url"] == f"https://sizes.test{page}"
    described = "/errata" if cited.startswith("/reports/") else "dictionary.json"
    assert citation.links["describedby"]["url"].endswith(described)
    (address,) = set(ADDRESS.findall(citation.text))
    assert address == f"https://sizes.test{page}"
    answer = public.get(address, follow_redirects=False)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert {answer.links[relation]["url"] for relation in ("canonical", "cite-as")} == {address}
    assert f'href="{cited.replace("FORM", form)}"' in answer.text


def test_a_figure_is_named_in_the_title(public: TestClient) -> None:
    answer = public.get(f"{REPORT}/cite.bib?figure=fig-gains")
    (entry,) = parse_string(answer.text, "bibtex").entries.values()
    assert entry.fields["title"] == "{Gains. Figure fig-gains of: First flights in 2026}"
    problem = assert_problem(public.get(f"{REPORT}/cite.bib?figure=fig-none"), "not-citable", 404)
    assert "fig-gains" in problem["detail"]


def test_illustrative_data_are_refused_in_a_sentence(client: TestClient) -> None:
    problem = assert_problem(client.get(f"{LOCALWEB}/cite.bib"), "not-citable", 404)
    assert problem["detail"].endswith("is no evidence about the web, and is not to be cited.")
    assert "cite.bib" not in client.get(LOCALWEB).text
    assert f"{MOBILE}/cite.bib" in client.get(MOBILE).text


def test_another_suffix_is_a_problem_that_lists_those_there_are(client: TestClient) -> None:
    assert client.get(f"{REPORT}/cite.docx").status_code == 404
    assert_problem(client.get(f"{MOBILE}/cite.docx"), "not-found", 404, mentions="csl.json")


def test_a_short_name_redirects_to_the_citation_of_the_whole_one(client: TestClient) -> None:
    answer = client.get("/releases/2026-11.mobile/v1/cite.csl.json", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, f"{MOBILE}/cite.csl.json")
