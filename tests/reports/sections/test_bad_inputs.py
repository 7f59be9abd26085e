"""What is wrong with a replay or a release is said in the report, in words that tell what to do."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from reports.document.compose import compose
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


def content_of(data_dir: Path, table: pa.Table) -> dict[str, Any]:
    data_folder(data_dir, table=table)
    return compose(read_data_folder(data_dir))


def test_refused_and_failed_cells_are_counted_with_their_reasons_and_enter_no_mean(tmp_path: Path) -> None:
    reasons = {"refused": "round trip: 70 ms for 60", "failed": "the guest ended"}
    rows = replay_cells().to_pylist()
    for state, place in (("refused", 0), ("failed", 1)):
        for row in rows:
            if row["profile"] == PROFILE_IDS[place] and row["iw"] == 30 and row["route"] == "own":
                row |= {"state": state, "reason": reasons[state], "page_ms": None}
    content = content_of(tmp_path, pa.Table.from_pylist(rows, schema=CELL))
    lost = PAGES * 4
    assert {state: content["replay"]["states"][state] for state in reasons} == dict.fromkeys(reasons, lost)
    pairs = {candidate["policy"]: candidate["pairs"] for candidate in content["verdict"]["candidates"]}
    assert pairs["16"] - pairs["30"] == 2 * lost


def test_too_few_networks_decide_nothing(tmp_path: Path) -> None:
    rows = [row for row in replay_cells().to_pylist() if row["profile"] == PROFILE_IDS[0]]
    content = content_of(tmp_path, pa.Table.from_pylist(rows, schema=CELL))
    judged = [candidate for candidate in content["verdict"]["candidates"] if candidate["standing"]]
    assert {candidate["standing"] for candidate in judged} == {"open"}
    assert all(candidate["per_load_pp"]["lower"] is None for candidate in judged)


def test_a_release_without_a_page_that_loaded_states_no_share(tmp_path: Path) -> None:
    made_up = MadeUp()
    made_up.add_visit(outcome="dns")
    write_release(tmp_path, made_up)
    content = compose(read_data_folder(tmp_path, with_replay=False))
    (number,) = content["answer"]["numbers"]
    assert (number["value"], number["note"]) == (None, "the size is known of 0 of 0 first flights")
    assert all(
        share["percent"] is None for measure in content["sizes"]["measures"] for share in measure["shares"]
    )
    (section,) = content["sections"]
    assert section["figures"] == []
