"""What is wrong with a replay or a release is said in the report, in words that tell what to do."""

import dataclasses
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from releases.formatting import apart
from reports.document.report import compose
from reports.recommendation.rule import RULE
from schema.computed_tables import CELL
from tests.factories.made_up_crawl import MadeUp
from tests.factories.made_up_report import (
    PAGES,
    PROFILE_IDS,
    data_folder,
    read_data_folder,
    replay_cells,
    write_release,
)

pytestmark = pytest.mark.process

QUICK = dataclasses.replace(RULE, replicates=60, harm_conditions=())


def content_of(data_dir: Path, table: pa.Table) -> dict[str, Any]:
    data_folder(data_dir, table=table)
    return compose(read_data_folder(data_dir), rule=QUICK)


def test_refused_and_failed_cells_are_counted_with_their_reasons_and_enter_no_mean(tmp_path: Path) -> None:
    reasons = {"refused": "round trip: 70 ms for 60", "failed": "the guest ended"}
    rows = replay_cells().to_pylist()
    for state, place in (("refused", 0), ("failed", 1)):
        for row in rows:
            if row["profile"] == PROFILE_IDS[place] and row["iw"] == 30 and row["route"] == "own":
                row |= {"state": state, "reason": reasons[state], "page_ms": None}
    content = content_of(tmp_path, pa.Table.from_pylist(rows, schema=CELL))
    (section,) = (one for one in content["sections"] if one["id"] == "replay")
    assert (
        "87.5\u202f% of these cells are done. The others failed, or were refused because" in section["lead"]
    )
    (table,) = section["tables"]
    assert {(row["state"], row["reason"], row["cells"]) for row in table["rows"]} == {
        (state, apart(reason), PAGES * 4) for state, reason in reasons.items()
    }
    means = {(one["profile"], one["iw"]) for one in content["replay"]["outcomes"]}
    assert not means & {(PROFILE_IDS[0], 30), (PROFILE_IDS[1], 30)}
    assert not content["recommendation"]["is_decided"]


def test_too_few_pages_decide_nothing_and_the_report_says_how_many_it_takes(tmp_path: Path) -> None:
    content = content_of(tmp_path, replay_cells(pages=5))
    assert not content["recommendation"]["is_decided"]
    assert content["recommendation"]["iw"] is None
    assert (
        f"5 pages pair in the smallest comparison; the rule asks for {RULE.minimum_pages}."
        in content["answer"]["reasons"]
    )


def test_a_release_without_a_page_that_loaded_states_no_share(tmp_path: Path) -> None:
    made_up = MadeUp()
    made_up.add_visit(outcome="dns")
    write_release(tmp_path, made_up)
    content = compose(read_data_folder(tmp_path, with_replay=False))
    (number,) = content["answer"]["numbers"]
    assert (number["value"], number["note"]) == (None, "the size is known of 0 of 0 first flights")
    assert all(share["percent"] is None for one in content["sizes"]["measures"] for share in one["shares"])
    sections = {one["id"]: one for one in content["sections"]}
    assert sections["sizes"]["figures"][0]["rows"] == sections["sizes"]["figures"][0]["bands"] == []
