"""Every form of a citation is read by a program that other people use, and says the same."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import rispy
import yaml
from datacite import schema45
from pybtex.database import parse_string
from pybtex.richtext import Text

from releases.citation.forms import FORMS, cite
from releases.citation.work import AUTHOR, NotCitable, Work, of_release, of_report
from schema.crawls import CrawlName
from tests.factories.made_up_release import smallest_release
from tests.releases.citation.cff_schema import valid_cff

URL = "https://sizes.test/releases/2026-11.desktop.local.tcp.web/v1"
SUM = "ab" * 32
DATED = of_report(
    title="First flights in 2026: 50 % of all & more_or less #",
    year=2026,
    version=2,
    date="2027-01-15",
    data=f"release 2026-11.desktop.local.tcp.web, version 1, sha256:{SUM}",
    licence="CC-BY-4.0",
    is_illustrative=False,
    url="https://sizes.test/reports/2026/v2/#fig-gains",
    figure=("fig-gains", "What other windows would save."),
)


@pytest.fixture
def dataset(tmp_path: Path) -> Work:
    """A release of which the day of the publication is unknown."""
    manifest = smallest_release(tmp_path, CrawlName(month="2026-11")).manifest
    return of_release(manifest, checksum=SUM, url=URL, measure="first_flights")


@pytest.fixture(params=["release", "figure"])
def work(request: pytest.FixtureRequest, dataset: Work) -> Work:
    return dataset if request.param == "release" else DATED


def test_bibtex_is_read_with_its_title_author_year_version_and_address(work: Work) -> None:
    (entry,) = parse_string(cite(work, "bib"), "bibtex").entries.values()
    assert entry.key == work.key
    assert entry.type == ("techreport" if work.kind == "report" else "misc")
    assert [str(one) for one in entry.persons["author"]] == [f"{{{AUTHOR}}}"]
    found = {name: entry.fields.get(name) for name in ("year", "version", "url")}
    assert found == {"year": str(work.year), "version": str(work.version), "url": work.url}
    assert str(Text.from_latex(entry.fields["title"])) == work.title
    assert SUM in entry.fields["note"]


def test_ris_is_read_by_rispy(work: Work) -> None:
    (entry,) = rispy.loads(cite(work, "ris"))
    assert entry["type_of_reference"] == ("RPRT" if work.kind == "report" else "DATA")
    assert (entry["title"], entry["authors"], entry["year"]) == (work.title, [AUTHOR], str(work.year))
    assert (entry["id"], entry["urls"], entry["edition"]) == (work.key, [work.url], str(work.version))
    assert entry.get("date") == (work.date.replace("-", "/") if work.date else None)


def test_csl_json_has_the_types_and_names_of_its_schema(work: Work) -> None:
    (item,) = json.loads(cite(work, "csl.json"))
    assert (item["type"], item["title"], item["author"]) == (work.kind, work.title, [{"literal": AUTHOR}])
    issued = [2027, 1, 15] if work.date else [2026]
    assert item["issued"] == {"date-parts": [issued]}
    assert (item["URL"], item["version"]) == (work.url, str(work.version))


def test_citation_cff_is_valid_by_its_published_schema(work: Work) -> None:
    found = valid_cff(cite(work, "cff"))
    assert found["title"] == work.title
    assert found["identifiers"][0]["value"] == f"sha256:{SUM}"
    assert ("preferred-citation" in found) == (work.kind == "report")


def test_datacite_json_is_valid_by_its_published_schema(work: Work) -> None:
    found: dict[str, Any] = json.loads(cite(work, "datacite.json"))
    schema45.validator.validate(found)
    assert found["publicationYear"] == str(work.year)
    dates = {one["dateType"]: one["date"] for one in found["dates"]}
    assert dates == ({"Issued": "2027-01-15"} if work.kind == "report" else {"Collected": "2026-11"})
    with pytest.raises(jsonschema.ValidationError):
        schema45.validator.validate({**found, "titles": []})


def test_both_references_become_the_same_text_of_a_draft(work: Work, tmp_path: Path) -> None:
    (facts,) = yaml.safe_load(cite(work, "yaml")).values()
    assert facts["author"] == [{"org": AUTHOR}]
    draft = f"""<rfc version="3" ipr="trust200902" docName="draft-you-cited-00" submissionType="IETF" category="info" xml:lang="en">
      <front><title>Cited</title><seriesInfo name="Internet-Draft" value="draft-you-cited-00"/>
      <author fullname="Your Name" initials="Y." surname="Name"/><date/><abstract><t>Text.</t></abstract></front>
      <middle><section><name>Body</name><t><xref target="{work.key.upper()}"/></t></section></middle>
      <back><references><name>References</name>{cite(work, "xml")}</references></back></rfc>"""  # noqa: E501
    (tmp_path / "draft.xml").write_text(draft)
    program = [str(Path(sys.executable).with_name("xml2rfc")), "--no-network", "--text", "draft.xml"]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "arning" not in done.stdout + done.stderr
    text = "".join((tmp_path / "draft.txt").read_text().split())
    for said in (AUTHOR, facts["title"], facts["target"], facts["date"], f"sha256:{SUM[:16]}..."):
        assert said.replace(" ", "") in text


@pytest.mark.parametrize("form", FORMS)
def test_without_a_public_address_no_form_has_one(form: str, dataset: Work) -> None:
    text = cite(dataclasses.replace(dataset, url=None), form)
    assert "sizes.test" not in text
    assert "None" not in text


@pytest.mark.parametrize("form", FORMS)
def test_no_form_is_written_of_illustrative_data(form: str, tmp_path: Path) -> None:
    manifest = smallest_release(tmp_path, CrawlName(month="2026-11", kind="localweb")).manifest
    release = of_release(manifest, checksum=SUM)
    report = dataclasses.replace(DATED, refusal="The report is illustrative.")
    for one in (release, report):
        with pytest.raises(NotCitable, match=r"is illustrative.*\.$"):
            cite(one, form)
