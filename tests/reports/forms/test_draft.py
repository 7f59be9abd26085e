"""The draft becomes text by xml2rfc, without a warning and without a network, and is short."""

import copy
import dataclasses
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from firstflight.main import main
from releases.formatting import in_ascii
from reports.forms.draft import MOST_WORDS, TABLES, draft_xml, table_blocks
from tests.factories.made_up_report import published

pytestmark = pytest.mark.process

Built = tuple[Path, dict[str, Any]]

HOSTILE = '"><b>*x*</b> {{RFC2119}} | `y` ]]> {: #a} & \\ \x1b[2J \u202e $$x$$ <!-- --- '


def text_of(folder: Path, xml: str) -> str:
    (folder / "draft.xml").write_text(xml, encoding="utf-8")
    program = Path(sys.executable).with_name("xml2rfc")
    done = subprocess.run(
        (program, "--no-network", "--text", "draft.xml"),
        cwd=folder,
        env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "arning" not in done.stdout + done.stderr
    return (folder / "draft.txt").read_text(encoding="utf-8")


def words(text: str) -> list[str]:
    """The words and numbers of a text: the lines of its tables are none."""
    return [word for word in text.split() if any(letter.isalnum() for letter in word)]


def test_the_draft_has_the_answer_its_tables_and_their_commands(built: Built, tmp_path: Path) -> None:
    _, content = built
    report = published(content)
    xml = draft_xml(report)
    text = text_of(tmp_path, xml)
    assert len(words(text)) <= MOST_WORDS
    assert max(map(len, text.splitlines())) <= 72
    assert "Every number is illustrative." in text
    text_of_draft = " ".join(words(text))
    assert " ".join(words(in_ascii(content["answer"]["headline"]))) in text_of_draft
    tables = {table.id for table in report.tables()} & TABLES.keys()
    assert {"shares", "policies"} <= tables
    for name in tables:
        assert f"<tt>firstflight report recompute 2026 v1 {name}</tt>" in xml
        assert f'<table anchor="iw-{name}">' in xml


def test_whatever_is_cited_is_listed_once_in_the_page_and_in_the_draft(built: Built) -> None:
    folder, content = built
    (section,) = (section for section in content["sections"] if section["references"])
    listed = [reference["anchor"] for reference in section["references"]]
    assert len({*listed}) == len(listed) > 15
    draft = ET.fromstring(draft_xml(published(content)))
    entries = [entry.get("anchor") for entry in draft.iter("reference")]
    assert len({*entries}) == len(entries)
    assert {*listed, "FIRSTFLIGHT2026"} == {*entries} == {xref.get("target") for xref in draft.iter("xref")}
    page = (folder / "index.html").read_text(encoding="utf-8")
    for name in listed:
        assert f'<a href="#ref-{name.lower()}">[{name}]</a>' in page
        assert page.count(f'<li id="ref-{name.lower()}">') == 1


def test_a_draft_of_much_has_the_tables_that_matter_most_and_stays_short(built: Built) -> None:
    report = published(built[1])
    longer = dataclasses.replace(report, limits=[*report.limits, "word " * 1_000])
    text = re.sub("<[^>]*>", " ", draft_xml(longer))
    assert MOST_WORDS - 500 < len(text.split()) <= MOST_WORDS
    assert 'anchor="iw-policies"' in draft_xml(longer)
    assert 'anchor="iw-shares"' not in draft_xml(longer)


def test_hostile_text_stays_text(built: Built, tmp_path: Path) -> None:
    content = copy.deepcopy(built[1])
    content["answer"]["sentences"] += [HOSTILE]
    content["limits"].append(HOSTILE)
    content["citation"]["title"] += HOSTILE
    for section in content["sections"]:
        section["title"] += HOSTILE
        section["lead"] += HOSTILE
        for paragraph in section["paragraphs"]:
            paragraph["text"] += HOSTILE
        for reference in section["references"]:
            reference["title"] += HOSTILE
            reference["target"] += HOSTILE
        for table in section["tables"]:
            table["title"] += HOSTILE
            table["rows"] = [
                {name: value + HOSTILE if isinstance(value, str) else value for name, value in row.items()}
                for row in table["rows"]
            ]
    text = text_of(tmp_path, draft_xml(published(content)))
    assert text.isascii()
    assert "*x*" in text
    assert "{{RFC2119}}" in text
    assert "\x1b" not in text


def test_every_table_is_a_block_for_another_draft(built: Built, tmp_path: Path) -> None:
    _, content = built
    report = published(content)
    names = [table.id for table in report.tables() if table.rows]
    blocks = table_blocks(report, names)
    whole = draft_xml(dataclasses.replace(report, sections=[]))
    text = text_of(
        tmp_path, whole.replace("</middle>", f"<section><name>All</name>{blocks}</section></middle>")
    )
    assert max(map(len, text.splitlines())) <= 72
    assert blocks.count("<table") >= len(names) > len(TABLES)
    assert all(f'anchor="iw-{name}"' in blocks for name in names)


def test_the_command_writes_a_draft_and_single_tables(made_up_report: Path, tmp_path: Path) -> None:
    def run(*arguments: str) -> Any:
        call = ["report", "draft", "--year", "2026", *arguments]
        return CliRunner().invoke(main, call, env={"FIRSTFLIGHT_DATA_DIR": str(made_up_report)})

    place = tmp_path / "draft.xml"
    assert run("--output", str(place)).exit_code == 0
    assert place.read_text(encoding="utf-8") == run().stdout
    assert run("--items", "shares").stdout.startswith('<table anchor="iw-shares">')
    unknown = run("--items", "shares,none")
    assert (unknown.exit_code, unknown.stdout) == (1, "")
    assert "the report has no table 'none'; it has: " in unknown.stderr
    assert "has no version 7; there are: 1" in run("--version", "7").stderr
