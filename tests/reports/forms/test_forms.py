"""The forms of a report say what the page says, and each figure has its data, drawings, query and anchor."""

import copy
import csv
import datetime
import json
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pypdf
import pytest

from releases.formatting import in_ascii
from reports.forms.texts import escape, report_markdown
from tests.factories.made_up_crawl import NAME
from tests.factories.made_up_report import published

pytestmark = pytest.mark.process

Built = tuple[Path, dict[str, Any]]

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def of_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def figures_of(content: dict[str, Any]) -> list[str]:
    return [figure["id"] for section in content["sections"] for figure in section["figures"]]


def test_each_figure_has_its_data_and_its_drawings(built: Built) -> None:
    folder, content = built
    assert {"cdf", "fig-ledger"} <= set(figures_of(content))
    for name in figures_of(content):
        base = folder / "forms" / "figures" / name
        assert base.with_name(f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert of_json(base.with_name(f"{name}.vl.json"))["$schema"].startswith(
            "https://vega.github.io/schema/vega-lite"
        )
        drawn = base.with_name(f"{name}.svg").read_text(encoding="utf-8")
        assert drawn.startswith("<svg")
        assert ">illustrative</text>" in drawn
        # On a dark screen the drawing is dark itself.
        assert "prefers-color-scheme:dark" in drawn


def test_the_index_names_the_place_of_each_figure_and_table_in_the_page(built: Built) -> None:
    folder, content = built
    index = of_json(folder / "forms" / "index.json")
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert {item["id"] for item in index} > {*figures_of(content), "shares", "policies", "ledger"}
    for item in index:
        path, _, anchor = item["page"].partition("#")
        assert (folder / "forms" / path).resolve() == (folder / "index.html").resolve()
        assert f'id="{anchor}"' in page, item["id"]
        assert (folder / "forms" / item["data"]).stat().st_size
        assert item["recompute"] == f"firstflight report recompute 2026 v1 {item['id']}"
        assert item["query"], item["id"]


@pytest.mark.parametrize("item", ["figures/cdf", "tables/shares", "tables/quantiles"])
def test_the_query_on_sizes_gives_the_published_data(built: Built, item: str) -> None:
    folder, _ = built
    release = NAME.path(folder.parents[2] / "releases", version=1)
    index = {item["data"]: item for item in of_json(folder / "forms" / "index.json")}
    query = index[f"{item}.csv"]["query"].replace(
        "distribution.parquet", str(release / "distribution.parquet")
    )
    with duckdb.connect() as database:
        result = database.execute(query)
        names = [column[0] for column in result.description or ()]
        # Measures without a known size have rows without values.
        computed = [row for row in result.fetchall() if row[-1] is not None]
    with (folder / "forms" / f"{item}.csv").open(encoding="utf-8", newline="") as file:
        published = [row for row in csv.DictReader(file) if row[names[-1]]]
    assert len(computed) == len(published) > 0
    for row, other in zip(computed, published, strict=True):
        assert row[0] == other["measure"]
        for name, value in zip(names[1:], row[1:], strict=True):
            assert float(other[name]) == float(f"{value:.6g}"), (other["measure"], name)


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
    opening = " ".join(lines[2:]).split()
    first = in_ascii(f"{content['answer']['first_line']} {content['answer']['headline']}").split()
    assert opening[: len(first)] == first
    assert content["citation"]["data"].rpartition("sha256:")[2] in summary
    assert "EVERY NUMBER IS ILLUSTRATIVE." in lines


def test_commands_in_sentences_of_markdown_stay_as_they_are_typed() -> None:
    assert escape("Run `firstflight a_b`, or a_b | c") == "Run `firstflight a_b`, or a\\_b \\| c"
    assert escape("`a|b` `<c>`") == "\\`a\\|b\\` \\`\\<c\\>\\`"


def test_markdown_has_every_section_and_table(built: Built) -> None:
    folder, content = built
    text = (folder / "forms" / "report.md").read_text(encoding="utf-8")
    assert f"\n## {escape(content['answer']['headline'])}\n" in text
    for section in content["sections"]:
        assert f"\n## {section['title']}\n" in text
        for table in section["tables"]:
            assert f"\n### {escape(table['title'])}\n" in text
            assert f"`firstflight report recompute 2026 v1 {table['id']}`" in text
    for name in figures_of(content):
        assert f"(figures/{name}.svg)" in text


def test_a_figure_without_data_has_a_file_and_no_place_in_a_document(built: Built) -> None:
    content = copy.deepcopy(built[1])
    (section,) = (section for section in content["sections"] if section["id"] == "otherwise")
    section["figures"][0]["rows"] = []
    text = report_markdown(published(content))
    assert "recompute 2026 v1 fig-ledger" not in text
    assert "recompute 2026 v1 cdf" in text


def test_the_pdf_of_the_brief_is_tagged_and_has_its_own_fonts(built: Built) -> None:
    reader = pypdf.PdfReader(built[0] / "forms" / "brief.pdf")
    assert reader.metadata is not None
    assert reader.metadata.title == "First flights in 2026"
    assert {reader.metadata.creation_date, reader.metadata.modification_date} <= {None, EPOCH}
    fonts = [font for page in reader.pages for font in page["/Resources"]["/Font"].values()]  # type: ignore[index]
    assert fonts
    for font in fonts:
        (descendant,) = font.get_object()["/DescendantFonts"]
        facts = descendant.get_object()["/FontDescriptor"]
        assert {"/FontFile2", "/FontFile3"} & set(facts), font
    assert reader.trailer["/Root"]["/MarkInfo"]["/Marked"]  # type: ignore[index]
    assert reader.trailer["/Root"]["/StructTreeRoot"]["/K"]  # type: ignore[index]
    assert reader.trailer["/Root"]["/Lang"]  # type: ignore[index]
    assert reader.xref_objStm, "the tags are not packed"
    assert b"pdfuaid:part" in reader.trailer["/Root"]["/Metadata"].get_object().get_data()  # type: ignore[index]
