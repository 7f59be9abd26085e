"""The forms of a report say what the page says, and each figure has its data, drawings, query and anchor."""

import copy
import csv
import datetime
import io
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import duckdb
import jsonschema
import pypdf
import pytest

from releases.formatting import in_ascii
from reports.forms.ascii_figure import ascii_figure
from reports.forms.markdown import report_markdown
from reports.forms.monochrome import BAND, NAMESPACE
from reports.forms.pdf import packed, pdf
from reports.forms.printed import printed
from reports.forms.typesetting import unbroken
from reports.forms.write import report_text
from tests.factories.made_up_crawl import NAME

PROGRAMS = Path(sys.executable).parent

pytestmark = pytest.mark.process

Built = tuple[Path, dict[str, Any]]

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def of_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def figures_of(content: dict[str, Any]) -> list[str]:
    return [one["id"] for section in content["sections"] for one in section["figures"]]


def test_each_figure_has_its_data_and_is_drawn_for_the_page_for_print_and_for_mails(built: Built) -> None:
    folder, content = built
    assert {"cdf", "fig-gains"} <= set(figures_of(content))
    for name in figures_of(content):
        base = folder / "forms" / "figures" / name
        assert base.with_name(f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert of_json(base.with_name(f"{name}.vl.json"))["$schema"].startswith(
            "https://vega.github.io/schema/vega-lite"
        )
        # On a dark screen the drawing is dark itself; print and the PDF have it on white.
        assert "prefers-color-scheme:dark" in base.with_name(f"{name}.svg").read_text(encoding="utf-8")
        for suffix in (".svg", "-monochrome.svg"):
            drawn = base.with_name(f"{name}{suffix}").read_text(encoding="utf-8")
            assert drawn.startswith("<svg")
            assert ">illustrative</text>" in drawn
        text = base.with_name(f"{name}.txt").read_text(encoding="utf-8")
        assert text.isascii()
        assert "[illustrative]" in text
        assert max(map(len, text.splitlines())) <= 72


def test_the_index_names_the_place_of_each_figure_and_table_in_the_page(built: Built) -> None:
    folder, content = built
    index = of_json(folder / "forms" / "index.json")
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert {one["id"] for one in index} > {*figures_of(content), "shares", "verdicts", "ledger"}
    for one in index:
        path, _, anchor = one["page"].partition("#")
        assert (folder / "forms" / path).resolve() == (folder / "index.html").resolve()
        assert f'id="{anchor}"' in page, one["id"]
        assert (folder / "forms" / one["data"]).stat().st_size
        assert one["recompute"] == f"firstflight report recompute 2026 v1 {one['id']}"
        assert one["query"], one["id"]


@pytest.mark.parametrize("item", ["figures/cdf", "tables/shares", "tables/quantiles"])
def test_the_query_on_sizes_gives_the_published_data(built: Built, item: str) -> None:
    folder, _ = built
    release = NAME.path(folder.parents[1] / "releases", version=1)
    index = {one["data"]: one for one in of_json(folder / "forms" / "index.json")}
    query = index[f"{item}.csv"]["query"].replace(
        "distribution.parquet", str(release / "distribution.parquet")
    )
    with duckdb.connect() as database:
        found = database.execute(query)
        names = [column[0] for column in found.description or ()]
        # Measures without a known size have rows without values.
        computed = [row for row in found.fetchall() if row[-1] is not None]
    with (folder / "forms" / f"{item}.csv").open(encoding="utf-8", newline="") as file:
        published = [row for row in csv.DictReader(file) if row[names[-1]]]
    assert len(computed) == len(published) > 0
    for row, one in zip(computed, published, strict=True):
        assert row[0] == one["measure"]
        for name, value in zip(names[1:], row[1:], strict=True):
            assert float(one[name]) == float(f"{value:.6g}"), (one["measure"], name)


def test_the_content_is_valid_by_its_published_schema(built: Built) -> None:
    folder, _ = built
    schema = of_json(folder / "forms" / "report.schema.json")
    checker = jsonschema.Draft202012Validator(schema)
    checker.check_schema(schema)
    assert list(checker.iter_errors(of_json(folder / "report.json"))) == []


@pytest.mark.parametrize(
    "place", [("answer", "headline"), ("sizes", "mss_bytes"), ("sections",), ("release", "sha256")]
)
def test_the_schema_misses_what_is_left_out_and_what_is_added(built: Built, place: tuple[str, ...]) -> None:
    folder, content = built
    checker = jsonschema.Draft202012Validator(of_json(folder / "forms" / "report.schema.json"))
    changed = copy.deepcopy(content)
    within = changed
    for name in place[:-1]:
        within = within[name]
    value = within.pop(place[-1])
    assert not checker.is_valid(changed)
    within[place[-1]] = value
    assert checker.is_valid(changed)
    changed["answer"]["unheard of"] = 1
    assert not checker.is_valid(changed)


def test_the_summary_is_ascii_of_72_columns_and_begins_with_the_answer(built: Built) -> None:
    folder, content = built
    summary = (folder / "summary.txt").read_text(encoding="ascii")
    lines = summary.splitlines()
    assert max(map(len, lines)) <= 72
    before = lines[2 : lines.index(content["answer"]["headline"].upper())]
    assert " ".join(before).split() == in_ascii(content["answer"]["first_line"]).split()
    assert content["release"]["sha256"] in summary
    assert "EVERY NUMBER IS ILLUSTRATIVE." in lines


def test_markdown_has_every_section_and_table(built: Built) -> None:
    folder, content = built
    text = (folder / "forms" / "report.md").read_text(encoding="utf-8")
    summary = (folder / "forms" / "summary.md").read_text(encoding="utf-8")
    for section in content["sections"]:
        assert f"\n## {section['title']}\n" in text
    for name in figures_of(content):
        assert f"(figures/{name}.svg)" in text
    for written in (text, summary):
        assert f"\n## {content['answer']['headline']}\n" in written
        assert "`firstflight report recompute 2026 v1 number-" in written


def test_the_plain_text_has_what_markdown_has_in_72_columns_of_ascii(built: Built) -> None:
    folder, content = built
    report = printed(content, marks="illustrative")
    text = (folder / "forms" / "report.txt").read_text(encoding="ascii")
    lines = text.splitlines()
    assert max(map(len, lines)) <= 72
    assert text == report_text(report)
    words = " ".join(text.split())
    for section in report.sections:
        assert lines[lines.index(in_ascii(section.title)) + 1] == "=" * len(section.title)
        for paragraph in (*section.paragraphs, *section.items):
            assert " ".join(in_ascii(paragraph).split()) in words
    for table in (*report.tables, *(figure.table for figure in report.figures)):
        assert " ".join(in_ascii(table.title).split()) in words
        assert table.command in words.replace(" \\ ", " ")
    for table in report.tables:
        for row in table.rows:
            assert all(in_ascii(text).split()[0] in words for text in row if text.strip())
    for figure in report.figures:
        assert all(f"  {line}".rstrip() in lines for line in ascii_figure(figure))


def test_a_figure_without_data_has_files_and_no_place_in_a_document(built: Built) -> None:
    content = copy.deepcopy(built[1])
    (section,) = (one for one in content["sections"] if one["id"] == "gains")
    section["figures"][0]["rows"] = []
    report = printed(content, marks="illustrative")
    assert "fig-gains" in {one.id for one in report.figures}
    for text in (report_text(report), report_markdown(report)):
        assert "recompute 2026 v1 fig-gains" not in text
        assert "recompute 2026 v1 cdf" in text


def test_commands_of_the_plain_text_are_those_of_the_report_for_a_shell(built: Built) -> None:
    folder, content = built
    text = (folder / "forms" / "report.txt").read_text(encoding="ascii").replace("\\\n", " ")
    commands = [shlex.split(line) for line in text.splitlines() if line.startswith("  firstflight ")]
    assert [shlex.split(command) for command in content["redo"]] == [
        one for one in commands if one[1:3] != ["report", "recompute"]
    ]


def test_the_pdf_has_the_answer_bookmarks_and_its_own_fonts(built: Built) -> None:
    folder, content = built
    reader = pypdf.PdfReader(folder / "forms" / "report.pdf")
    first = " ".join(reader.pages[0].extract_text().split())
    assert content["answer"]["headline"] in first
    assert "Version 1" in first
    assert reader.metadata is not None
    assert reader.metadata.title == "First flights in 2026"
    bookmarks = [one.title for one in reader.outline if not isinstance(one, list)]
    for section in content["sections"]:
        assert any(unbroken(section["title"]) in str(bookmark) for bookmark in bookmarks), section["title"]
    assert len(reader.pages) >= 5
    assert "illustrative" in reader.pages[1].extract_text()
    fonts = [font for page in reader.pages for font in page["/Resources"]["/Font"].values()]  # type: ignore[index]
    assert fonts
    for font in fonts:
        (descendant,) = font.get_object()["/DescendantFonts"]
        facts = descendant.get_object()["/FontDescriptor"]
        assert {"/FontFile2", "/FontFile3"} & set(facts), font
    assert reader.trailer["/Root"]["/MarkInfo"]["/Marked"]  # type: ignore[index]
    assert reader.trailer["/Root"]["/StructTreeRoot"]["/K"]  # type: ignore[index]
    assert reader.trailer["/Root"]["/Lang"]  # type: ignore[index]
    assert len(reader.xref_objStm) > len(reader.pages), "the tags are not packed"
    assert b"pdfuaid:part" in reader.trailer["/Root"]["/Metadata"].get_object().get_data()  # type: ignore[index]


def test_the_pdf_depends_on_the_report_alone_and_not_on_the_clock_or_on_chance(built: Built) -> None:
    folder, content = built
    drawings = {
        name: (folder / "forms" / "figures" / f"{name}-monochrome.svg").read_text(encoding="utf-8")
        for name in figures_of(content)
    }
    texts = []
    for date in ("2027-01-15", "2027-12-31"):
        dated = content | {"publication": content["publication"] | {"date": date}}
        document = pdf(printed(dated, marks="illustrative"), drawings=drawings)
        reader = pypdf.PdfReader(io.BytesIO(document))
        assert reader.metadata is not None
        assert {reader.metadata.creation_date, reader.metadata.modification_date} <= {None, EPOCH}
        texts.append([one.extract_text().replace(date, "") for one in reader.pages])
        # Random identifiers and times of the packing would differ from one packing to the next.
        assert packed(document) == packed(document)
        assert reader.trailer["/ID"] == pypdf.PdfReader(io.BytesIO(packed(document))).trailer["/ID"]
    assert texts[0] == texts[1]


def test_the_monochrome_figures_pass_svgcheck(built: Built) -> None:
    folder, content = built
    for name in figures_of(content):
        path = folder / "forms" / "figures" / f"{name}-monochrome.svg"
        done = subprocess.run(
            [PROGRAMS / "svgcheck", "--no-network", path], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "conforms to SVG requirements" in done.stdout + done.stderr


def test_the_monochrome_curves_have_their_intervals_between_dotted_lines(built: Built) -> None:
    folder, content = built
    (section,) = (one for one in content["sections"] if one["id"] == "sizes")
    (figure,) = section["figures"]
    names = {row["measure"] for row in figure["bands"]}
    root = ElementTree.parse(folder / "forms" / "figures" / f"{figure['id']}-monochrome.svg").getroot()
    dotted = [
        [tuple(map(float, point.split(","))) for point in one.attrib["points"].split()]
        for one in root.iter(f"{{{NAMESPACE}}}polyline")
        if one.attrib.get("stroke-dasharray") == "1,2"
    ]
    assert names
    assert len(dotted) == 2 * len(names)
    for lower, upper in zip(dotted[: len(names)], dotted[len(names) :], strict=True):
        assert [x for x, _ in lower] == [x for x, _ in upper]
        assert all(low >= high for (_, low), (_, high) in zip(lower, upper, strict=True))  # y grows downwards
        assert any(low > high for (_, low), (_, high) in zip(lower, upper, strict=True))
    assert any(one.text == BAND for one in root.iter(f"{{{NAMESPACE}}}text"))
