"""Items of a published report are computed again from the inputs that it names, to the last digit."""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from reports.inputs.replays import ReportError
from reports.publishing.recompute import items, recompute
from storage.sums import seal
from tests.circles import thorough
from tests.factories.made_up_report import crawl, places, write_release

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory, made_up_report: Path) -> Path:
    """A copy of the report's data folder with a newer release of the same crawl, which does not change what
    the report was made from."""
    copied = shutil.copytree(made_up_report, tmp_path_factory.mktemp("data") / "data")
    write_release(copied, crawl(hosts=("other.test",)), version=2)
    return copied


@pytest.mark.parametrize("item", ["cdf", "policies", "number-fits", *thorough("shares", "fig-ledger")])
def test_figures_tables_verdicts_and_numbers_are_equal_to_the_last_digit(data_dir: Path, item: str) -> None:
    folder = data_dir / "reports" / "2026" / "v1"
    recomputed = recompute(folder, item, places=places(data_dir))
    assert recomputed.differences == ()
    stored = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert recomputed.again == items(stored)[item]
    assert any(digit in recomputed.again for digit in "123456789")


def test_a_changed_digit_is_found(data_dir: Path, tmp_path: Path) -> None:
    folder = tmp_path / "v1"
    shutil.copytree(data_dir / "reports" / "2026" / "v1", folder)
    content = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    table = next(
        table for section in content["sections"] for table in section["tables"] if table["id"] == "shares"
    )
    table["rows"][0]["iw10"]["estimate"] += 0.0001
    (folder / "report.json").write_text(json.dumps(content), encoding="utf-8")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    del manifest["files"]
    seal(folder, manifest)
    before, now = recompute(folder, "shares", places=places(data_dir)).differences
    assert before[0] + now[0] == "-+"
    assert before[1:] != now[1:]


def test_what_cannot_be_computed_is_refused_in_one_line(data_dir: Path, tmp_path: Path) -> None:
    folder = data_dir / "reports" / "2026" / "v1"
    with pytest.raises(ReportError, match=r"has no 'fig-99'; it has: .*cdf"):
        recompute(folder, "fig-99", places=places(data_dir))
    elsewhere = dataclasses.replace(places(data_dir), releases=tmp_path)
    with pytest.raises(ReportError, match="there is no release"):
        recompute(folder, "cdf", places=elsewhere)
    copy = tmp_path / "v1"
    shutil.copytree(folder, copy)
    (copy / "report.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ReportError, match=r"is damaged \(report.json\)"):
        recompute(copy, "cdf", places=places(data_dir))
