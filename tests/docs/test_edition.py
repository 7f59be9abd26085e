"""docs/edition-2026 is a report as it was published, README.md begins with its answer, and its numbers can be computed again."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from firstflight.commands.report_recompute import folder_of
from firstflight.recorded_pages import import_pages
from firstflight.settings import Settings, from_environment
from reports.inputs.errors import ReportError
from reports.loads.carried import FOLDER as LOADS
from reports.recomputation.recompute import Places, Recomputed, recompute, recompute_items
from storage.report_versions import ReportVersionError
from storage.sums import MANIFEST, SUMS, broken_sums, manifest_of, seal

ROOT = Path(__file__).parents[2]
EDITION = ROOT / "docs" / "edition-2026"
MOST_BYTES = 5_000_000

ITEMS = ("cdf", "quantiles", "shares", "quic-rounds", "fits-2010")
"""What follows from the pages alone."""


def content() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((EDITION / "report.json").read_text(encoding="utf-8"))
    return found


def test_the_edition_is_whole_and_small() -> None:
    assert not broken_sums(EDITION)
    files = [path for path in EDITION.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES
    assert {"index.html", "report.json", "summary.txt", "forms/report.pdf", "forms/report.md"} <= {
        str(path.relative_to(EDITION)) for path in files
    }


def test_the_readme_begins_with_the_answer_of_the_edition() -> None:
    first_screen = (ROOT / "README.md").read_text(encoding="utf-8").split("\n## ", 1)[0]
    answer = content()["answer"]
    assert answer["headline"] in first_screen
    assert "docs/edition-2026/" in first_screen
    words = " ".join(first_screen.split())
    gain, harm = (one for one in answer["numbers"] if one["id"] in ("gain", "harm"))
    assert f"{gain['value']:.2f} % ({gain['lower']:.2f} to {gain['upper']:.2f} %)" in words
    at_most = f"{harm['value']:.2f} percentage points ({harm['lower']:.2f} to {harm['upper']:.2f})"
    assert f"{at_most} more" in words
    assert f"the rule asks for less than {harm['limit']:g}" in words


def test_every_version_of_the_edition_is_listed_with_its_reason_and_what_it_corrects() -> None:
    listed = re.findall(
        r"^\| (\d+) \| ([0-9-]+) \| (.+?) \| (.+?) \| (.*?) \|$",
        (ROOT / "docs" / "forms.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    newest = content()["publication"]
    assert [int(row[0]) for row in listed] == [*range(1, newest["version"] + 1)]
    assert listed[-1][1:4] == (newest["date"], newest["reason"], newest["corrects"])
    assert all(re.fullmatch(r"`[0-9a-f]{7,}`", row[4]) for row in listed[:-1])


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    """The release, made again from the bundled pages; no replay and no back-cast."""
    settings: Settings = dataclasses.replace(from_environment(), data_dir=tmp_path_factory.mktemp("data"))
    import_pages(settings)
    return Places(
        releases=settings.releases,
        replays=settings.replays,
        reports=settings.reports,
        backcast=settings.backcast,
        allowed_signers=settings.allowed_signers,
    )


@pytest.fixture(scope="module")
def of_pages(places: Places) -> dict[str, Recomputed]:
    """ITEMS computed again."""
    return {one.id: one for one in recompute_items(EDITION, ITEMS, places=places)}


@pytest.mark.process
@pytest.mark.parametrize("item", ITEMS)
def test_what_follows_from_the_pages_is_computed_again_to_the_last_digit(
    item: str, of_pages: dict[str, Recomputed]
) -> None:
    """The release made now may have other words of its method and dictionary, which later code has changed."""
    assert of_pages[item].again
    assert of_pages[item].differences == ()


@pytest.mark.slow
def test_every_item_is_computed_again_from_a_clone_to_the_last_digit(places: Places) -> None:
    """Gain and harm too, by the loads that the edition carries: the data folder has neither a replay nor a back-cast."""
    found = recompute_items(EDITION, [], places=places)
    assert {"number-gain", "number-harm", "verdicts", "fig-gains", "inputs"} < {one.id for one in found}
    assert [(one.id, one.differences) for one in found if one.differences] == []


@pytest.mark.process
def test_without_its_loads_what_follows_from_the_replay_asks_for_the_replay(
    places: Places, tmp_path: Path
) -> None:
    folder = tmp_path / "v1"
    shutil.copytree(EDITION, folder, ignore=shutil.ignore_patterns(LOADS, MANIFEST, SUMS))
    seal(folder, {name: value for name, value in manifest_of(EDITION).items() if name != "files"})
    with pytest.raises(ReportError, match=r"copy that replay to .*, or make it again by the commands"):
        recompute(folder, "fig-gains", places=places)


def test_a_clone_reads_the_edition_itself_and_refuses_a_version_that_is_not_there(tmp_path: Path) -> None:
    version = content()["publication"]["version"]
    assert folder_of(tmp_path, content()["year"], version) == EDITION
    with pytest.raises(ReportVersionError, match=f"has no version {version + 1}"):
        folder_of(tmp_path, content()["year"], version + 1)
