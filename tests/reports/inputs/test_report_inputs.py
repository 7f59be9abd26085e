"""Inputs of a report: which are found, which are refused, and the commands that make them again."""

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pyarrow.parquet as pq
import pytest

from reports.document.compose import compose, months_limit, publish_content, rebuild_commands
from reports.inputs.replays import ReportError
from schema.recorded import RECORDED
from storage.report_versions import Publication
from tests.factories.made_up_crawl import NAME
from tests.factories.made_up_report import (
    FEW_CELLS,
    PROFILE_IDS,
    crawl,
    data_folder,
    populations,
    read_data_folder,
    write_release,
)
from verdict.calibration import BackCast, BackCastFinding

pytestmark = pytest.mark.process


def test_an_imported_population_decides_and_is_named_in_the_commands(tmp_path: Path) -> None:
    whole, slow = populations(measured="2026-05", source="M-Lab's NDT", weights={PROFILE_IDS[0]: 1.0})
    imported = [whole | {"id": "ndt-2026-05"}, slow | {"id": "ndt-2026-05-slow"}]
    asked = {"until": "all", "pages": "2026-11", "networks": "ndt-2026-05.csv", "seeds": 3}
    data_folder(tmp_path, table=FEW_CELLS, populations=imported, asked=asked)
    inputs = read_data_folder(tmp_path)
    assert inputs.replay
    (look,) = inputs.replay.replayed.pages.looks
    assert {network.id: network.weight for network in look.evidence.networks} == {PROFILE_IDS[0]: 1.0}
    assert rebuild_commands(inputs)[1] == (
        f"firstflight replay run --set until=all --set networks=ndt-2026-05.csv --set pages={NAME}"
    )


def test_the_commands_import_recorded_pages_and_repeat_the_back_cast(tmp_path: Path) -> None:
    data_folder(tmp_path, kind=RECORDED, table=FEW_CELLS)
    inputs = read_data_folder(tmp_path)
    finding = BackCastFinding(sentence="", content=cast("BackCast", {"seeds": 3}))
    stated = dataclasses.replace(inputs, back_cast=finding)
    commands = rebuild_commands(stated)
    assert commands[0].startswith("firstflight import pages ")
    assert commands[2] == "firstflight replay backcast --seeds 3"


def test_the_last_command_builds_the_same_version(tmp_path: Path) -> None:
    data_folder(tmp_path, table=FEW_CELLS)
    inputs = read_data_folder(tmp_path)
    publication = Publication(version=2, date="2027-01-15", reason="a site's wish", corrects="shares")
    content = publish_content(compose(inputs), publication, inputs.release)
    assert content["redo"][-1].endswith(
        " --version 2 --reason 'a site'\"'\"'s wish' --corrects shares --date 2027-01-15"
    )


def test_months_of_the_year_without_a_release_are_told_apart(tmp_path: Path) -> None:
    for name in (
        NAME,
        dataclasses.replace(NAME, month="2026-03"),
        dataclasses.replace(NAME, month="2025-04"),
        dataclasses.replace(NAME, month="2026-05", device="mobile"),
    ):
        write_release(tmp_path, crawl(), name)
    damaged = write_release(tmp_path, crawl(), dataclasses.replace(NAME, month="2026-06"))
    (damaged.path / "manifest.json").write_text("{")
    inputs = read_data_folder(tmp_path, with_replay=False)
    assert inputs.months == ("2026-03", "2026-11")
    sentence = months_limit(inputs.months, inputs.release.crawl.month)
    assert (
        "10 months of 2026 have no release of the same kind (2026-01, 2026-02, 2026-04, 2026-05, 2026-06,"
        in sentence
    )
    assert "no release" not in months_limit([f"2026-{month:02}" for month in range(1, 13)], "2026-11")


def test_a_year_without_a_release_names_the_command(tmp_path: Path) -> None:
    data_folder(tmp_path)
    with pytest.raises(
        ReportError, match=r"no release of 2025 .* `firstflight release build --crawl 2025-MM`"
    ):
        read_data_folder(tmp_path, year=2025)
    with pytest.raises(ReportError, match="no release of crawl 2026-03 in 2026"):
        read_data_folder(tmp_path, crawl="2026-03")


def test_the_newest_month_is_taken_and_two_releases_of_it_need_a_choice(tmp_path: Path) -> None:
    for month in ("2026-02", "2026-11"):
        write_release(tmp_path, crawl(), dataclasses.replace(NAME, month=month))
    newest = write_release(tmp_path, crawl(), NAME, version=2)
    assert read_data_folder(tmp_path, with_replay=False).release == newest
    assert (
        read_data_folder(tmp_path, crawl="2026-02", with_replay=False).release.manifest.crawl.month
        == "2026-02"
    )
    write_release(tmp_path, crawl(), dataclasses.replace(NAME, device="mobile"))
    with pytest.raises(ReportError, match=r"2026-11 has 2 releases .* choose one with --crawl"):
        read_data_folder(tmp_path, with_replay=False)


def test_a_damaged_release_of_another_month_does_not_matter(tmp_path: Path) -> None:
    data_folder(tmp_path)
    for month in ("2025-01", "2026-10"):
        other = write_release(tmp_path, crawl(), dataclasses.replace(NAME, month=month))
        (other.path / "manifest.json").write_text("{")
    assert read_data_folder(tmp_path).release.crawl.month == "2026-11"


def test_a_damaged_newest_release_is_refused_and_not_replaced_by_an_older_one(tmp_path: Path) -> None:
    data_folder(tmp_path)
    newest = write_release(tmp_path, crawl(), dataclasses.replace(NAME, month="2026-12"))
    (newest.path / "manifest.json").write_text("{")
    with pytest.raises(ReportError, match=r"the release of 2026-12\..* is damaged \(manifest.json\)"):
        read_data_folder(tmp_path)
    assert read_data_folder(tmp_path, crawl="2026-11").release.crawl.month == "2026-11"


def test_a_damaged_release_is_refused(tmp_path: Path) -> None:
    release = data_folder(tmp_path)
    pq.write_table(pq.read_table(release.file("site")).slice(1), release.file("site"))
    with pytest.raises(ReportError, match=r"is damaged \(site.parquet\)"):
        read_data_folder(tmp_path)


@pytest.mark.parametrize(("kind", "is_taken"), [(RECORDED, True), ("web", False)])
def test_a_report_may_rest_on_recorded_pages_of_an_earlier_year_if_they_are_named(
    tmp_path: Path, kind: str, is_taken: bool
) -> None:
    data_folder(tmp_path, kind=kind, table=FEW_CELLS)
    next_year = int(NAME.month[:4]) + 1
    if is_taken:
        assert read_data_folder(tmp_path, year=next_year, crawl=NAME.month).release.crawl.month == NAME.month
    for named in (None, *([] if is_taken else [NAME.month])):
        with pytest.raises(ReportError, match="there is no release of"):
            read_data_folder(tmp_path, year=next_year, crawl=named)


def test_recorded_sets_of_other_years_come_once_each_in_the_order_of_their_days(
    tmp_path: Path, recorded_releases: Callable[[str], Path]
) -> None:
    """Of November 2024's set that of a year before is another set as well; sites of 2013's are not joined."""
    names = ("tranco-2024-11", "tranco-2023-11", "tranco-2023-11b", "phantomjs-2013-09")
    for name in names:
        shutil.copytree(recorded_releases(name), tmp_path / "releases", dirs_exist_ok=True)
    inputs = read_data_folder(tmp_path, year=2024, crawl="2024-11", with_replay=False)
    assert inputs.year_before is not None
    assert inputs.year_before.manifest.list_id == "tranco-2023-11"
    others = [other.manifest.list_id for other in inputs.other_years]
    assert others == ["tranco-2023-11b", "tranco-2023-11"]
