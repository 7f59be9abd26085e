"""Every form of a citation is valid by the rules of those who read it, and says the same."""

import dataclasses
import json
from pathlib import Path

import pytest
from pybtex.database import parse_string
from pybtex.richtext import Text

from releases.citation.forms import FORMS, cite
from releases.citation.work import NotCitable, Work, cite_release, cite_report
from schema.authors import MAINTAINERS
from schema.crawls import CrawlName
from tests.factories.made_up_release import smallest_release
from tests.releases.citation.cff_schema import valid_cff

URL = "https://sizes.test/releases/2026-11.desktop.local.tcp.web/v1"
SUM = "ab" * 32
DATED = cite_report(
    title="First flights in 2026: 50 % of all & more_or less #",
    year=2026,
    version=2,
    date="2027-01-15",
    data=f"release 2026-11.desktop.local.tcp.web, version 1, sha256:{SUM}",
    licence="CC-BY-4.0",
    is_recorded=False,
    is_illustrative=False,
    url="https://sizes.test/reports/2026/v2/#fig-gains",
    figure=("fig-gains", "What other windows would save."),
)


@pytest.fixture
def dataset(tmp_path: Path) -> Work:
    manifest = smallest_release(tmp_path, CrawlName(month="2026-11")).manifest
    return cite_release(manifest, url=URL)


@pytest.fixture(params=["release", "figure"])
def work(request: pytest.FixtureRequest, dataset: Work) -> Work:
    return dataset if request.param == "release" else DATED


def sum_of(work: Work) -> str:
    return work.data.rpartition("sha256:")[2]


def test_bibtex_is_read_with_its_title_author_year_version_and_address(work: Work) -> None:
    (entry,) = parse_string(cite(work, "bib"), "bibtex").entries.values()
    assert entry.key == work.key
    assert entry.type == ("techreport" if work.kind == "report" else "misc")
    assert [str(person) for person in entry.persons["author"]] == [f"{{{MAINTAINERS.name}}}"]
    fields = {name: entry.fields.get(name) for name in ("year", "version", "url")}
    assert fields == {"year": str(work.year), "version": str(work.version), "url": work.url}
    assert str(Text.from_latex(entry.fields["title"])) == work.title
    assert sum_of(work) in entry.fields["note"]


def test_csl_json_has_the_types_and_names_of_its_schema(work: Work) -> None:
    (item,) = json.loads(cite(work, "csl.json"))
    assert (item["type"], item["title"], item["author"]) == (
        work.kind,
        work.title,
        [{"literal": MAINTAINERS.name}],
    )
    issued = [2027, 1, 15] if work.date else [2026]
    assert item["issued"] == {"date-parts": [issued]}
    assert (item["URL"], item["version"]) == (work.url, str(work.version))


def test_citation_cff_is_valid_by_its_published_schema(work: Work) -> None:
    facts = valid_cff(cite(work, "cff"))
    assert facts["title"] == work.title
    assert facts["identifiers"][0]["value"] == f"sha256:{sum_of(work)}"
    assert ("preferred-citation" in facts) == (work.kind == "report")


@pytest.mark.parametrize("form", FORMS)
def test_without_a_public_address_no_form_has_one(form: str, dataset: Work) -> None:
    text = cite(dataclasses.replace(dataset, url=None), form)
    assert "sizes.test" not in text
    assert "None" not in text


@pytest.mark.parametrize("form", FORMS)
def test_no_form_is_written_of_illustrative_data(form: str, tmp_path: Path) -> None:
    manifest = smallest_release(tmp_path, CrawlName(month="2026-11", kind="localweb")).manifest
    release = cite_release(manifest)
    report = dataclasses.replace(DATED, refusal="The report is illustrative.")
    for work in (release, report):
        with pytest.raises(NotCitable, match=r"is illustrative.*\.$"):
            cite(work, form)
