"""Authors come from the operator's CITATION.cff, and every form of a citation
has them as its readers expect."""

import dataclasses
import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from pybtex.database import parse_string

from releases.catalogue import Manifest, ReleaseError, read_release
from releases.citation.authors import authors_in
from releases.citation.forms import FORMS, cite
from releases.citation.work import cite_release
from releases.descriptions.croissant import croissant
from releases.descriptions.tables import tables_in
from schema.authors import MAINTAINERS, Author
from schema.crawls import CrawlName
from tests.factories.made_up_release import smallest_release
from tests.releases.citation.cff_schema import valid_cff

ROOT = Path(__file__).parents[3]
ORCID = "https://orcid.org/0000-0002-1825-0097"
TEXT = f"""cff-version: 1.2.0
message: Cite it.
title: Sizes
authors:
  - family-names: Neumann
    given-names: Ada Jane
    name-particle: von
    name-suffix: Jr.
    orcid: {ORCID}
    affiliation: University of R&D
  - name: Measurement Group & Sons
  - family-names: Ōe
    given-names: Kenzaburō
"""


@pytest.fixture
def named(tmp_path: Path) -> Path:
    path = tmp_path / "CITATION.cff"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def manifest(named: Path, tmp_path: Path) -> Manifest:
    release = smallest_release(tmp_path / "releases", CrawlName(month="2026-11"))
    return dataclasses.replace(release.manifest, authors=authors_in(named))


def test_authors_are_read_with_all_that_identifies_them(named: Path) -> None:
    first, group, last = authors_in(named)
    assert first == Author(
        name="Neumann",
        given="Ada Jane",
        particle="von",
        suffix="Jr.",
        orcid=ORCID,
        affiliation="University of R&D",
    )
    assert (group.name, group.given, last.inverted) == ("Measurement Group & Sons", "", "Ōe, Kenzaburō")


def test_the_software_has_a_valid_citation_of_its_own() -> None:
    valid_cff((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert authors_in(ROOT / "CITATION.cff") == (MAINTAINERS,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cff-version: 1.2.0\n",
        "[1, 2",
        TEXT.replace("title: Sizes\n", ""),
        TEXT.replace("family-names", "surname"),
        TEXT.replace(ORCID, "0000"),
        TEXT.replace("Ada Jane", "7"),
        TEXT.replace("message: Cite it.", "message:"),
        TEXT.replace("name: Measurement", "given-names: Ada\n    name: Measurement"),
        TEXT.replace("  - name: Measurement Group & Sons\n", "  - Measurement Group\n"),
        TEXT.replace("1.2.0", "9.9.9"),
        TEXT.replace("1.2.0", "1.1.0"),
        TEXT.split("authors:")[0] + "authors: []\n",
        TEXT.replace("cff-version: 1.2.0\n", "cff-version: 1.2.0\n\tkey: : x\n"),
    ],
)
def test_a_file_that_is_no_citation_is_refused_in_one_line_that_names_it(named: Path, text: str) -> None:
    with pytest.raises((jsonschema.ValidationError, yaml.YAMLError)):
        valid_cff(text)
    named.write_text(text, encoding="utf-8")
    with pytest.raises(ReleaseError) as caught:
        authors_in(named)
    message = str(caught.value)
    assert message.startswith(f"{named} is no CITATION.cff that can be used: ")
    assert "\n" not in message


def test_a_file_that_is_missing_or_no_text_is_refused_in_one_line(named: Path) -> None:
    named.write_bytes(b"\xff\xfe")
    with pytest.raises(ReleaseError, match="no CITATION"):
        authors_in(named)
    named.unlink()
    with pytest.raises(ReleaseError, match="No such file"):
        authors_in(named)


def test_the_manifest_keeps_authors_and_names_the_maintainers_without(
    manifest: Manifest, tmp_path: Path
) -> None:
    authors, recorded_by = manifest.authors, manifest.authors[:1]
    release = smallest_release(tmp_path, manifest.crawl, authors=authors, recorded_by=recorded_by)
    stored = read_release(release.path).manifest
    assert (stored.authors, stored.recorded_by) == (authors, recorded_by)
    without = dataclasses.replace(manifest, authors=())
    assert cite_release(without).authors == (MAINTAINERS,)


def test_every_form_has_every_author(manifest: Manifest) -> None:
    work = cite_release(manifest)
    assert {
        form
        for form in FORMS
        if "Neumann" not in cite(work, form) or "Measurement Group" not in cite(work, form)
    } == set()
    (entry,) = parse_string(cite(work, "bib"), "bibtex").entries.values()
    person, group, _ = entry.persons["author"]
    assert (person.prelast_names, person.last_names, person.lineage_names) == (
        ["von"],
        ["{Neumann}"],
        ["{Jr.}"],
    )
    assert str(group) == "{Measurement Group \\& Sons}"
    (csl,) = json.loads(cite(work, "csl.json"))
    assert csl["author"][:2] == [
        {"family": "Neumann", "given": "Ada Jane", "non-dropping-particle": "von", "suffix": "Jr."},
        {"literal": "Measurement Group & Sons"},
    ]
    assert work.line.startswith("von Neumann, Jr., Ada Jane; Measurement Group & Sons; Ōe, Kenzaburō. ")


def test_the_citation_within_a_release_gives_the_same_authors_again(manifest: Manifest, named: Path) -> None:
    named.write_text(cite(cite_release(manifest), "cff"), encoding="utf-8")
    assert authors_in(named) == manifest.authors


def test_a_release_of_recordings_is_by_those_who_recorded_it_and_derived_by_the_operator(
    manifest: Manifest,
) -> None:
    recorder = Author(name="A Recorder")
    for authors, ours in ((manifest.authors, "von Neumann, Jr., Ada Jane; "), ((), MAINTAINERS.name)):
        work = cite_release(dataclasses.replace(manifest, authors=authors, recorded_by=(recorder,)))
        assert work.authors == (recorder,)
        assert work.line.startswith("A Recorder. ")
        assert f"derived by {ours}" in work.line


def test_the_checksum_of_a_citation_is_of_the_data_and_of_no_document(manifest: Manifest) -> None:
    assert manifest.data_checksum in cite_release(manifest).line
    for name, is_data in (
        ("response.parquet", True),
        ("method.md", False),
        ("recording.json", False),
        ("crawl.parquet", False),  # names the commit of the code
    ):
        changed = dataclasses.replace(manifest, files={**manifest.files, name: "00" * 32})
        assert (changed.data_checksum != manifest.data_checksum) is is_data, name


def test_descriptions_name_the_authors(manifest: Manifest, tmp_path: Path) -> None:
    work = cite_release(manifest)
    creators = croissant(work, tables_in(tmp_path, {}))["creator"]
    assert [creator["@type"] for creator in creators] == ["sc:Person", "sc:Organization", "sc:Person"]
    assert creators[0]["identifier"] == ORCID
