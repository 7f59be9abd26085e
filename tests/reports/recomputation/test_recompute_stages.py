"""Items of a report of a replay in stages are computed again from the stored stages, to the last digit."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from replay.recipes.page_recipe import read_recipes
from reports.decision.stage import Stage
from reports.decision.stored_stages import stages_folder, write_stage
from reports.decision.until_decided import Budget, until_decided
from reports.document.report import build_report
from reports.document.report_inputs import ReportError
from reports.recommendation.rule import RULE
from reports.recomputation.items import items
from reports.recomputation.recompute import recompute
from tests.factories.made_up_report import crawl, places, read_data_folder, write_release
from tests.reports.decision.worlds import World, ordinary, plan_of, problem

pytestmark = pytest.mark.process

QUICK = dataclasses.replace(
    RULE, margins=ordinary("retransmitted_bytes_average"), harm_conditions=(), replicates=60
)
BETTER = World(saves={16: -0.06}, sends_again={16: 0.2})
GUESTS: dict[str, list[str]] = {"gates": [], "failures": [], "programs": []}


def write_stages(data_dir: Path) -> Path:
    """The release of a crawl, and stages of its pages over made-up networks, as a replay that was stopped leaves them."""
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


def test_stages_that_are_missing_or_damaged_are_refused(data_dir: Path, tmp_path: Path) -> None:
    folder = data_dir / "reports" / "2026" / "v1"
    without = dataclasses.replace(places(data_dir), replays=tmp_path)
    with pytest.raises(ReportError, match="copy it there"):
        recompute(folder, "number-gain", places=without, rule=QUICK)
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
