"""The skeleton of an Internet-Draft becomes text and HTML by xml2rfc and kramdown-rfc, without a warning."""

import copy
import dataclasses
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from reports.forms.draft import MOST_ROWS, fit, left_out
from reports.forms.kramdown import draft_kramdown
from reports.forms.printed import Printed, Table, printed
from reports.forms.rfcxml import draft_xml

pytestmark = pytest.mark.process

Built = tuple[Path, dict[str, Any]]

NAME = "draft-you-tcpm-iw-evidence-2026-00"

HOSTILE = '"><b>*x*</b> {{RFC2119}} | `y` ]]> {: #a} & \\ \x1b[2J \u202e {::nomarkdown} $$x$$ <!-- --- '


def run(*command: str | Path, folder: Path) -> str:
    """Run a program, which must be silent on standard error, without a network."""
    environment = {**os.environ, "KRAMDOWN_OFFLINE": "1", "XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    said = [line for line in done.stderr.splitlines() if not line.strip().startswith("Created file")]
    assert (done.returncode, said) == (0, []), done.stderr
    return done.stdout


def made(folder: Path, xml: str) -> tuple[str, str]:
    """Text and HTML that xml2rfc makes, without a warning."""
    (folder / "draft.xml").write_text(xml, encoding="utf-8")
    program = Path(sys.executable).with_name("xml2rfc")
    said = run(program, "--no-network", "--text", "--html", "draft.xml", folder=folder)
    assert "arning" not in said
    return (folder / "draft.txt").read_text(encoding="utf-8"), (folder / "draft.html").read_text(
        encoding="utf-8"
    )


def of_kramdown(folder: Path, source: str) -> str:
    """XML that kramdown-rfc makes, without a warning."""
    if shutil.which("kramdown-rfc") is None:
        pytest.fail("kramdown-rfc is missing: apt-get install ruby-kramdown-rfc2629")
    (folder / "draft.md").write_text(source, encoding="utf-8")
    return run("kramdown-rfc", "draft.md", folder=folder)


def words(text: str) -> list[str]:
    """The words of a text without page breaks, footers and page numbers of the contents."""
    lines = (line for line in text.splitlines() if "[Page " not in line and "  . ." not in line)
    return [word for line in lines for word in line.split()]


def test_both_sources_give_the_same_text_with_the_answer_and_each_command(
    built: Built, tmp_path: Path
) -> None:
    folder, content = built
    draft = folder / "forms" / "draft"
    text, page = made(tmp_path, (draft / f"{NAME}.xml").read_text(encoding="utf-8"))
    again, _ = made(tmp_path, of_kramdown(tmp_path, (draft / f"{NAME}.md").read_text(encoding="utf-8")))
    assert content["answer"]["headline"] in " ".join(words(text))
    assert sorted(words(again)) == sorted(words(text))
    assert max(map(len, text.splitlines())) <= 72
    for number in content["answer"]["numbers"]:
        assert f"number-{number['id']}" in text
    for section in content["sections"]:
        for one in (*section["figures"], *section["tables"]):
            command = f"firstflight report recompute 2026 v1 {one['id']}"
            assert command.replace(" ", "") in "".join(words(text)), one["id"]
    figures = sum(len(section["figures"]) for section in content["sections"])
    assert page.count("<svg") == figures
    assert f"Figure {figures}:" in text


def test_hostile_text_stays_text_in_both(built: Built, tmp_path: Path) -> None:
    report = hostile(built[1])
    text, _ = made(tmp_path, draft_xml(report))
    again, _ = made(tmp_path, of_kramdown(tmp_path, draft_kramdown(report)))
    for written in (text, again):
        assert written.isascii()
        assert "*x*" in written
        assert "{{RFC2119}}" in written
        assert "\x1b" not in written


def hostile(content: dict[str, Any]) -> Printed:
    """The report with a hostile string in every text of its answer, sections and limits."""
    changed = copy.deepcopy(content)
    changed["answer"]["sentence"] += HOSTILE
    changed["answer"]["reasons"].append(HOSTILE)
    changed["limits"].append(HOSTILE)
    changed["citation"]["title"] += HOSTILE
    for section in changed["sections"]:
        section["title"] += HOSTILE
        section["lead"] += HOSTILE
        for one in (*section["figures"], *section["tables"]):
            one["title"] += HOSTILE
            one["source"] += HOSTILE
            one["rows"] = [
                {name: value + HOSTILE if isinstance(value, str) else value for name, value in row.items()}
                for row in one["rows"]
            ]
    return printed(changed, marks="illustrative")


def test_each_block_stands_alone(built: Built) -> None:
    folder, content = built
    blocks = folder / "forms" / "draft" / "blocks"
    for section in content["sections"]:
        for kind, things in (("figure", section["figures"]), ("table", section["tables"])):
            for one in things:
                root = ET.parse(blocks / f"{one['id']}.xml").getroot()  # our own file
                assert (root.tag, root.get("anchor")) == (kind, f"iw-{one['id']}")
                kramdown = blocks / f"{one['id']}.md"
                assert kramdown.is_file() is (kind == "table"), "a figure's RFCXML is for both"
                if kind == "table":
                    assert f"iw-{one['id']}" in kramdown.read_text(encoding="ascii")
    assert ET.parse(blocks / "reference.xml").getroot().get("anchor") == "FIRSTFLIGHT2026"


def test_a_table_that_no_page_holds_is_left_out_and_its_command_is_named() -> None:
    row = ("IW 16", "1.2")
    short = Table(
        id="short",
        title="All networks",
        headings=("window", "saved"),
        is_number=(False, True),
        rows=(row,) * MOST_ROWS,
        source="",
        query="",
        command="firstflight report recompute 2026 v1 short",
    )
    long = dataclasses.replace(short, rows=(*short.rows, row))
    assert [one.rows for one in fit(short)] == [short.rows]
    assert list(fit(long)) == []
    assert long.command in left_out(long)
