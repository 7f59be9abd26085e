"""The ledger of a report: a replay with loads at the ends of inputs,
under other conditions and over other networks."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from replay.runs.conditions import LAST_BYTE, Conditions
from reports.document.report import build_report
from reports.inputs.report_inputs import ledgers_of
from reports.recommendation.rule import RULE
from reports.sections.ledger import ledger_section
from schema.computed_tables import CELL
from storage.sums import seal
from tests.factories.made_up_report import (
    PAGES,
    PROFILE_IDS,
    data_folder,
    read_data_folder,
    replay_cells,
)

pytestmark = pytest.mark.process

QUICK = dataclasses.replace(RULE, replicates=100, harm_conditions=())
FAR = "far-"
ASKED: dict[str, Any] = {
    "year": 2026,
    "incumbent": 10,
    "worthwhile": 1.0,
    "query": "firstflight report build",
}


def with_ends() -> pa.Table:
    """The made-up loads, with larger gains where all is found at the last byte,
    and smaller ones over networks that are far."""
    own = replay_cells().to_pylist()
    late = replay_cells(gain_percent={3: -9.0, 10: 0.0, 16: 6.0, 30: 9.0}, seeds=1).to_pylist()
    far = replay_cells(gain_percent={3: -1.0, 10: 0.0, 16: 0.2, 30: 0.3}, seeds=1).to_pylist()
    return pa.Table.from_pylist(
        [
            *own,
            *(row | Conditions(discovery=LAST_BYTE).columns() for row in late if row["route"] == "own"),
            *(row | {"profile": FAR + row["profile"]} for row in far if row["route"] == "own"),
        ],
        schema=CELL,
    )


def content_of(data_dir: Path, table: pa.Table, *, far: bool = False) -> dict[str, Any]:
    release = data_folder(data_dir, table=table)
    folder = data_dir / "replays" / str(release.manifest.crawl)
    facts = json.loads((folder / "replay.json").read_text(encoding="utf-8"))
    if far:
        facts["profiles"] += [one | {"id": FAR + one["id"]} for one in facts["profiles"]]
        facts["sensitivity_populations"] = {
            "crux": [
                one | {"weights": {FAR + name: share for name, share in one["weights"].items()}}
                for one in facts["populations"]
            ]
        }
        (folder / "replay.json").write_text(json.dumps(facts), encoding="utf-8")
        (folder / "SHA256SUMS").unlink()
        seal(folder, {"kind": "replay", "release": facts["release"]})
    return build_report(
        read_data_folder(data_dir), data_dir / "reports" / "2026", commit="c0ffee", rule=QUICK
    )


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    """The report's content without ends, and with them."""
    plain, varied = (tmp_path_factory.mktemp(name) for name in ("plain", "varied"))
    return content_of(plain, replay_cells()), content_of(varied, with_ends(), far=True)


def test_the_ledger_has_the_answer_at_each_end(contents: tuple[dict[str, Any], dict[str, Any]]) -> None:
    ledger = {one["input"]: one for one in contents[1]["ledger"]}
    late, far = ledger["discovery"], ledger["round_trips"]
    assert (late["answer_low"], late["answer_default"], late["answer_high"]) == (None, "IW 16", "IW 30")
    assert (far["answer_default"], far["answer_high"]) == ("IW 16", "no change")
    assert (late["turns"], far["turns"], far["pages"]) == (True, True, PAGES)
    assert far["gain_high"]["estimate"] < 1 < far["gain_default"]["estimate"] < late["gain_high"]["estimate"]
    assert "rho" not in ledger
    assert ledger["worthwhile"]["basis"] == "all loads, by intervals"


def test_loads_at_the_ends_change_nothing_else_of_a_report(
    contents: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    plain, varied = contents
    for name in ("recommendation", "sensitivity", "arithmetic"):
        assert varied[name] == plain[name]
    assert varied["replay"]["outcomes"] == plain["replay"]["outcomes"]
    assert set(varied["replay"]["profiles"]) == set(PROFILE_IDS)


def test_each_edition_adds_its_lines_to_those_of_the_editions_before(
    contents: tuple[dict[str, Any], dict[str, Any]], tmp_path: Path
) -> None:
    own = contents[1]["ledger"]
    for year in (2024, 2025):
        folder = tmp_path / str(year)
        folder.mkdir()
        before = ledgers_of(tmp_path / "2024") if year == 2025 else ()
        told = {"year": year, "is_illustrative": True, "ledger": own, "earlier_ledgers": before}
        (folder / "report.json").write_text(json.dumps(told), encoding="utf-8")
    earlier = ledgers_of(tmp_path / "2025")
    assert [one["year"] for one in earlier] == [2024] * len(own) + [2025] * len(own)
    section = ledger_section(own, earlier, **ASKED)
    kept = {one.id: one for one in section.tables}["inputs-by-year"].rows
    assert [row["year"] for row in kept] == ["2026", "2025", "2024"] * len(own)
    late = [row for row in kept if row["title"] == "when the browser asks for what a response leads to"]
    assert [(row["year"], row["answer_high"], row["turns"]) for row in late] == [
        (year, "IW 30", "yes") for year in ("2026", "2025", "2024")
    ]
    without = ledger_section(None, earlier, **ASKED)
    assert without.missing is not None
    assert [row["year"] for row in without.tables[0].rows] == ["2025", "2024"] * len(own)
    assert "inputs-by-year" not in {table["id"] for table in ledger_tables(contents[1])}


def test_choices_of_the_rule_and_inputs_of_the_replay_stand_apart(
    contents: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    (section,) = (one for one in contents[1]["sections"] if one["id"] == "ledger")
    by_rule, by_inputs = section["figures"]
    late = "when the browser asks for what a response leads to"
    entry = next(one for one in contents[1]["ledger"] if one["input"] == "discovery")
    choice = next(one for one in contents[1]["ledger"] if one["input"] == "worthwhile")
    assert [(row["end"], row["saved"]) for row in by_rule["rows"] if row["input"].startswith("least")] == [
        (name, choice[f"gain_{end}"])
        for end, name in (("low", "low end"), ("default", "as decided"), ("high", "high end"))
    ]
    assert late not in {row["input"] for row in by_rule["rows"]}
    assert [(row["end"], row["value"], row["more"]) for row in by_inputs["rows"] if row["input"] == late] == [
        ("high end", "last byte", entry["more_high"])
    ]
    assert "IW 16 saves against IW 10" in by_inputs["title"]
    choices, inputs = section["tables"]
    assert (choices["id"], inputs["id"]) == ("choices", "inputs")
    assert [row["end"] for row in inputs["rows"] if row["input"] == late] == ["last byte, not as recorded"]
    assert inputs["rows"][0]["saved"] == entry["gain_default"]


def test_an_end_is_compared_with_the_same_pages_and_not_with_other_ones(
    contents: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    entry = next(one for one in contents[1]["ledger"] if one["input"] == "discovery")
    by_page, at_end = entry["more_high"], entry["gain_high"]
    assert by_page["estimate"] == pytest.approx(at_end["estimate"] - entry["gain_default"]["estimate"])
    assert by_page["lower"] < 2 < by_page["upper"]


def test_too_few_loads_are_no_answer(contents: tuple[dict[str, Any], dict[str, Any]]) -> None:
    wide = {"estimate": -1.2, "lower": -6.2, "upper": 1.8}
    own = [one | {"gain_default": wide} for one in contents[1]["ledger"]]
    tables = {one.id: one for one in ledger_section(own, (), **ASKED).tables}
    unchanged, late = tables["inputs"].rows[0], tables["inputs"].rows[1]
    assert (unchanged["answer"], late["answer"]) == ("too few loads to tell", "no change")


def ledger_tables(content: dict[str, Any]) -> list[dict[str, Any]]:
    (section,) = (one for one in content["sections"] if one["id"] == "ledger")
    tables: list[dict[str, Any]] = section["tables"]
    return tables
