"""Items of a report of a replay in stages are computed again from the stored stages, to the last digit."""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from releases.catalogue import Release, listed
from replay.recipes.http_version import HTTP1, HTTP2
from replay.recipes.page_recipe import read_recipes
from replay.runs.conditions import LAST_BYTE, Conditions
from reports.decision.stage import Stage
from reports.decision.stored_stages import stages_folder, write_stage
from reports.decision.until_decided import Budget, until_decided
from reports.document.report import build_report
from reports.inputs.errors import ReportError
from reports.loads.carried import FACTS, FULL, STAGES, carry_loads
from reports.loads.carried import FOLDER as LOADS
from reports.recommendation.ledger import CHOICES
from reports.recommendation.rule import RULE
from reports.recomputation.recompute import items, recompute, recompute_items
from schema.computed_tables import CELL
from storage.sums import manifest_of, seal
from tests.factories.made_up_release import make_release
from tests.factories.made_up_report import (
    PAGES,
    crawl,
    crawl_with_another_page,
    places,
    read_data_folder,
    replay_cells,
    write_release,
    write_replay,
)
from tests.reports.decision.worlds import World, ordinary, plan_of, problem

pytestmark = pytest.mark.process

QUICK = dataclasses.replace(
    RULE, margins=ordinary("retransmitted_bytes_average"), harm_conditions=(), replicates=60
)
ARMS = (
    Conditions(discovery=LAST_BYTE),
    Conditions(http=HTTP1),
    Conditions(http=HTTP2),
    Conditions(pacing=True),
)
"""What the full replay has beside its default loads."""

BETTER = World(saves={16: -0.06}, sends_again={16: 0.2})
GUESTS: dict[str, Any] = {
    "gates": [],
    "failures": [],
    "programs": [],
    "budget": {"amount": 20_000, "unit": "loads"},
}


def write_stages(data_dir: Path) -> Path:
    """The release of a crawl, and stages of its pages over made-up networks,
    as a replay that was stopped leaves them."""
    release = write_release(data_dir, crawl())
    asked = dataclasses.replace(
        problem(windows=(10, 16), networks=2), recipes=tuple(read_recipes(release)), rule=QUICK
    )
    stages: list[Stage] = []
    until_decided(
        asked,
        [],
        budget=Budget(amount=2.0),
        guests=1,
        load=BETTER.load,
        keep=lambda _number, stage: stages.append(stage),
    )
    plan = plan_of(asked) | {
        "commit": "c0ffee",
        "pages_there": len(asked.recipes),
        "release": {"crawl": str(release.crawl), "version": 1, "checksum": release.checksum},
    }
    folder = stages_folder(data_dir / "replays" / str(release.crawl), plan)
    for number, stage in enumerate(stages, start=1):
        write_stage(folder, number, stage, plan, GUESTS)
    return folder


def write_full(data_dir: Path, *, seeds: int = 1) -> Path:
    """A full replay of the same release, of a few pages, with loads at the ends of some inputs."""
    own = replay_cells(seeds=seeds).to_pylist()
    changed = (row | one.columns() for one in ARMS for row in own if row["route"] == "own")
    (release,) = (one for one in listed(data_dir / "releases") if isinstance(one, Release))
    return write_replay(data_dir, release, pa.Table.from_pylist([*own, *changed], schema=CELL))


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("data")
    write_stages(made)
    build_report(
        read_data_folder(made, rule=QUICK), made / "reports" / "2026" / "v1", commit="c0ffee", rule=QUICK
    )
    return made


def test_what_follows_from_stages_is_equal_to_the_last_digit(data_dir: Path) -> None:
    folder = data_dir / "reports" / "2026" / "v1"
    published = items(json.loads((folder / "report.json").read_text(encoding="utf-8")))
    for item in ("number-gain", "verdicts"):
        found = recompute(folder, item, places=places(data_dir), rule=QUICK)
        assert found.differences == ()
        assert found.again == published[item]
    assert 4 < json.loads(published["number-gain"])["value"] < 8  # 5.82, with the chance of a few loads


def test_the_commands_of_a_report_of_stages_have_the_budget_that_makes_the_same_loads(data_dir: Path) -> None:
    content = json.loads((data_dir / "reports" / "2026" / "v1" / "report.json").read_text(encoding="utf-8"))
    assert "--until decided --budget 20000loads" in content["redo"][1]


def test_stages_that_somebody_else_made_by_the_same_plan_give_the_same_numbers_but_not_the_same_times(
    data_dir: Path, tmp_path: Path
) -> None:
    folder = data_dir / "reports" / "2026" / "v1"
    shutil.copytree(data_dir / "replays", tmp_path / "replays")
    for stage in tmp_path.glob("replays/*.stages/stage-*/stage.json"):
        facts = json.loads(stage.read_text(encoding="utf-8"))
        stage.write_text(json.dumps(facts | {"core_s": 60 + 2 * facts["core_s"]}), encoding="utf-8")
        (stage.parent / "SHA256SUMS").unlink()
        seal(stage.parent, {"kind": "stage"})
    elsewhere = dataclasses.replace(places(data_dir), replays=tmp_path / "replays")
    assert recompute(folder, "number-gain", places=elsewhere, rule=QUICK).differences == ()
    assert recompute(folder, "stages-ledger", places=elsewhere, rule=QUICK).differences


def test_stages_that_are_missing_or_damaged_are_refused(data_dir: Path, tmp_path: Path) -> None:
    folder = data_dir / "reports" / "2026" / "v1"
    without = dataclasses.replace(places(data_dir), replays=tmp_path)
    with pytest.raises(
        ReportError, match=r"does not carry its loads .*; copy that replay to .*, or make it again"
    ):
        recompute(without_loads(folder, tmp_path / "v1"), "number-gain", places=without, rule=QUICK)
    shutil.copytree(data_dir / "replays", tmp_path / "replays")
    (cells,) = tmp_path.glob("replays/*.stages/stage-01/cells.parquet")
    cells.write_bytes(cells.read_bytes()[:-1])
    with pytest.raises(ReportError, match=r"stage-01 is damaged \(cells.parquet\)"):
        recompute(
            folder,
            "number-gain",
            places=dataclasses.replace(without, replays=tmp_path / "replays"),
            rule=QUICK,
        )


def test_a_report_carries_the_loads_by_which_every_item_is_computed_again(
    data_dir: Path, tmp_path: Path
) -> None:
    release = write_release(tmp_path, crawl())
    (release.path / "method.md").write_text(
        "other words than those of the report's release", encoding="utf-8"
    )
    make_release(release.path, release.crawl, rows=release.manifest.rows)
    folder = data_dir / "reports" / "2026" / "v1"
    found = recompute_items(folder, [], places=places(tmp_path), rule=QUICK)
    assert {"number-gain", "verdicts", "stages-ledger"} < {one.id for one in found}
    assert [one.id for one in found if one.differences] == []
    by_loads = next(one for one in found if one.id == "verdicts")
    assert by_loads.notes[0].startswith("from another build of the release")
    assert by_loads.notes[1:] == ("by the loads that the report carries",)


def test_other_pages_than_those_of_the_release_are_no_other_build_of_it(
    data_dir: Path, tmp_path: Path
) -> None:
    write_release(tmp_path, crawl_with_another_page())
    folder = data_dir / "reports" / "2026" / "v1"
    with pytest.raises(ReportError, match="is not the one that the report names"):
        recompute(folder, "shares", places=places(tmp_path), rule=QUICK)


def without_loads(folder: Path, copy: Path) -> Path:
    """A copy of a report that does not carry the loads of its replay."""
    shutil.copytree(folder, copy)
    shutil.rmtree(copy / LOADS)
    manifest = manifest_of(copy)
    del manifest["files"]
    seal(copy, manifest)
    return copy


def test_the_full_replay_beside_the_stages_has_what_they_lack_and_decides_nothing(
    data_dir: Path, tmp_path: Path
) -> None:
    shutil.copytree(data_dir, tmp_path, dirs_exist_ok=True)
    folder = tmp_path / "reports" / "2026" / "v2"
    full = write_full(tmp_path)
    alone = json.loads((data_dir / "reports" / "2026" / "v1" / "report.json").read_text(encoding="utf-8"))
    both = build_report(read_data_folder(tmp_path, rule=QUICK), folder, commit="c0ffee", rule=QUICK)
    for name in ("answer", "verdicts", "stages", "recommendation"):
        assert both[name] == alone[name]
    assert {one.name for one in (folder / LOADS).iterdir()} == {STAGES, FULL, FACTS}
    carry_loads(tmp_path, read_data_folder(tmp_path, rule=QUICK), "stages")
    assert {one.name for one in (tmp_path / LOADS).iterdir()} == {STAGES, FACTS}
    assert (alone["beside"], both["beside"]["pages"]) == (None, PAGES)
    sections = {one["id"]: one for one in both["sections"]}
    assert {"by-protocol", "http-arms"} <= {one["id"] for one in sections["protocols"]["tables"]}
    senders = sections["senders"]["tables"][0]["rows"]
    assert {row["sender"] for row in senders} == {"CUBIC", "CUBIC, paced"}
    ledger = {one["input"]: one for one in both["ledger"]}
    assert ledger["worthwhile"]["basis"] == "all loads in stages, by intervals"
    is_decided = both["recommendation"]["is_decided"]
    assert (ledger["worthwhile"]["answer_default"] != "undecided") is is_decided
    assert ledger["discovery"]["pages"] == PAGES
    assert [one["input"] for one in alone["ledger"]] == [one.id for one in CHOICES]

    assert recompute(folder, "inputs", places=places(tmp_path), rule=QUICK).differences == ()
    shutil.rmtree(full)
    write_full(tmp_path, seeds=2)
    assert recompute(folder, "inputs", places=places(tmp_path), rule=QUICK).differences == ()
    with pytest.raises(ReportError, match="beside the stages is not the one"):
        recompute(without_loads(folder, tmp_path / "v3"), "inputs", places=places(tmp_path), rule=QUICK)


def test_a_full_replay_of_another_version_of_the_rule_does_not_stand_beside_the_stages(
    data_dir: Path, tmp_path: Path
) -> None:
    shutil.copytree(data_dir, tmp_path, dirs_exist_ok=True)
    full = write_full(tmp_path)
    facts = json.loads((full / "replay.json").read_text(encoding="utf-8"))
    (full / "replay.json").write_text(
        json.dumps(facts | {"rule_version": RULE.version - 1}), encoding="utf-8"
    )
    (full / "SHA256SUMS").unlink()
    seal(full, {"kind": "replay"})
    with pytest.raises(ReportError, match="another version of the rule than the stages"):
        read_data_folder(tmp_path, rule=QUICK)
