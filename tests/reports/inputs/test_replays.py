"""The replay that a report takes: which are read, and which are refused,
in one line that tells what to run."""

import dataclasses
import json
import random
import shutil
from pathlib import Path
from typing import cast

import pytest

from releases.catalogue import Release
from reports.document.compose import illustrative_because
from reports.document.report import origin
from reports.inputs.carried import carry_loads, read_carried
from reports.inputs.replays import ReportError
from reports.inputs.report_inputs import read_inputs
from storage.sums import seal
from tests.factories.made_up_crawl import NAME
from tests.factories.made_up_report import (
    FEW_CELLS,
    crawl,
    data_folder,
    places,
    populations,
    read_data_folder,
    replay_cells,
    stage_of,
    write_release,
    write_replay,
)
from tests.factories.signing import make_signer
from verdict.calibration import BackCast
from verdict.evidence import COLUMNS

pytestmark = pytest.mark.process


@pytest.mark.parametrize(("measured", "is_illustrative"), [("2024-11", False), ("2024-10", True)])
def test_a_population_of_at_most_24_months_is_evidence(
    tmp_path: Path, measured: str, is_illustrative: bool
) -> None:
    data_folder(tmp_path, kind="web", table=FEW_CELLS, populations=populations(measured=measured))
    assert bool(illustrative_because(read_data_folder(tmp_path))) == is_illustrative


def test_a_replay_without_populations_must_be_run_again(tmp_path: Path) -> None:
    data_folder(tmp_path, table=FEW_CELLS, populations=[])
    with pytest.raises(ReportError, match="names no populations"):
        illustrative_because(read_data_folder(tmp_path))


@pytest.mark.parametrize("wrong", [0.9, 1.001])
def test_a_population_whose_weights_do_not_sum_to_one_is_refused_in_one_line(
    tmp_path: Path, wrong: float
) -> None:
    average, slow = populations()
    weights = {name: wrong * share for name, share in slow["weights"].items()}
    data_folder(tmp_path, table=FEW_CELLS, populations=[average, slow | {"weights": weights}])
    with pytest.raises(
        ReportError, match=rf"slowdc-2010 in the replay sum to {wrong:g}, not to 1: .* again"
    ) as refused:
        read_data_folder(tmp_path)
    assert "\n" not in str(refused.value)


def test_a_missing_replay_names_the_command(tmp_path: Path) -> None:
    write_release(tmp_path, crawl())
    with pytest.raises(
        ReportError, match=f"run `firstflight replay run edition --set pages={NAME}`, or .*--without-replay"
    ):
        read_data_folder(tmp_path)


def test_a_replay_of_another_release_is_refused(tmp_path: Path) -> None:
    other = {"crawl": str(NAME), "version": 1, "checksum": "00"}
    data_folder(tmp_path, release=other)
    with pytest.raises(ReportError, match="made from another version of the release"):
        read_data_folder(tmp_path)


@pytest.mark.parametrize("name", ["cells.parquet", "stage.json"])
def test_a_replay_that_cannot_be_read_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    data_folder(tmp_path)
    folder = stage_of(tmp_path)
    (folder / name).write_bytes(b"\xff torn")
    with pytest.raises(ReportError, match=rf"is damaged \({name}\); remove it .* `firstflight replay run"):
        read_data_folder(tmp_path)
    seal(folder, {})
    with pytest.raises(ReportError, match=r"cannot be read; remove it .* `firstflight replay run"):
        read_data_folder(tmp_path)


def test_a_replay_of_another_version_or_without_cells_is_refused(tmp_path: Path) -> None:
    release = data_folder(tmp_path)
    write_replay(tmp_path, release, replay_cells().drop_columns(["page_ms"]))
    with pytest.raises(ReportError, match="of another version"):
        read_data_folder(tmp_path)
    write_replay(tmp_path, release, replay_cells().slice(0, 0))
    with pytest.raises(ReportError, match="has no cell"):
        read_data_folder(tmp_path)


@pytest.mark.parametrize("name", ["cells.parquet", "stage.json", "manifest.json", "SHA256SUMS"])
def test_a_bit_that_flips_in_any_file_of_a_replay_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    release = data_folder(tmp_path, table=FEW_CELLS)
    path = stage_of(tmp_path, release.crawl) / name
    sound = path.read_bytes()
    for bit in random.Random(name).sample(range(8 * len(sound)), 100):
        spoilt = bytearray(sound)
        spoilt[bit // 8] ^= 1 << bit % 8
        path.write_bytes(spoilt)
        with pytest.raises(
            ReportError, match=r"^the replay in .* is damaged \(.*\); remove it .* `firstflight"
        ) as refused:
            read_data_folder(tmp_path)
        assert "\n" not in str(refused.value)
    path.write_bytes(sound)
    assert read_data_folder(tmp_path).replay is not None


def test_a_replay_that_was_replaced_as_a_whole_fails_its_signature(tmp_path: Path) -> None:
    release = data_folder(tmp_path, table=FEW_CELLS)
    signer = make_signer(tmp_path)
    signer.allowed_signers.rename(tmp_path / "allowed_signers")
    signer = dataclasses.replace(signer, allowed_signers=tmp_path / "allowed_signers")
    for folder in (release.path, stage_of(tmp_path)):
        signer.sign(folder)
    assert read_data_folder(tmp_path).replay is not None
    write_replay(tmp_path, release, replay_cells(pages=2, gain_percent={10: 0.0}))
    with pytest.raises(
        ReportError, match=r"is damaged \(bad signature: SHA256SUMS is not what releases@example.org"
    ):
        read_data_folder(tmp_path)


def confirmed(data_dir: Path, month: str = "2023-11") -> tuple[Release, Path]:
    """A release with its replay, and the stage of one over another month's pages that is to confirm it."""
    release = data_folder(data_dir, table=FEW_CELLS)
    own = {"crawl": str(release.crawl), "version": release.version, "checksum": release.checksum}
    other = write_release(data_dir, crawl(), dataclasses.replace(NAME, month=month))
    return release, write_replay(data_dir, other, FEW_CELLS, confirms=own)


def test_replays_of_other_pages_that_are_to_confirm_the_answer_are_found_with_it(tmp_path: Path) -> None:
    _, stage = confirmed(tmp_path)
    confirmed(tmp_path, "2024-11")
    write_replay(tmp_path, write_release(tmp_path, crawl(), dataclasses.replace(NAME, month="2022-11")))
    replay = read_data_folder(tmp_path).replay
    assert replay is not None
    assert [other.crawl[:7] for other in replay.confirming] == ["2023-11", "2024-11"]
    again = stage.parent.with_name(f"{replay.confirming[0].crawl}.89abcdef")
    shutil.copytree(stage.parent, again)
    with pytest.raises(ReportError, match=r"2023-11.* has 2 replays \(0123abcd, 89abcdef\); choose one"):
        read_data_folder(tmp_path)
    chosen = read_inputs(
        places(tmp_path), year=2026, crawl="2026-11", with_replay=True, which=("89abcdef",)
    ).replay
    assert chosen is not None
    assert [other.name for other in (chosen, *chosen.confirming)] == ["0123abcd", "89abcdef", "0123abcd"]


def test_a_replay_that_may_confirm_the_answer_must_be_sound_and_of_its_release(tmp_path: Path) -> None:
    release, stage = confirmed(tmp_path)
    write_replay(tmp_path, release, FEW_CELLS)
    other = {"crawl": str(NAME).replace("2026", "2023"), "version": 1, "checksum": "00"}
    own = {"crawl": str(release.crawl), "version": release.version, "checksum": release.checksum}
    facts = json.loads((stage / "stage.json").read_text(encoding="utf-8"))
    facts["plan"] |= {"release": other, "confirms": own}
    (stage / "stage.json").write_text(json.dumps(facts), encoding="utf-8")
    with pytest.raises(ReportError, match=r"stage-01 may confirm the answer, and is damaged: remove it"):
        read_data_folder(tmp_path)
    seal(stage, {"kind": "stage"})
    with pytest.raises(ReportError, match="made from another version of the release"):
        read_data_folder(tmp_path)


def test_a_report_carries_the_loads_of_all_lists_and_reads_them_as_they_were(tmp_path: Path) -> None:
    confirmed(tmp_path)
    inputs = read_data_folder(tmp_path)
    folder = tmp_path / "report"
    folder.mkdir()
    stated = cast("BackCast", {"seeds": 3})
    carry_loads(folder, inputs.replay, stated)
    seal(folder, origin(inputs, commit="c0ffee"))
    carried = read_carried(folder)
    assert carried is not None
    replay, back_cast = carried
    assert back_cast == stated
    assert inputs.replay is not None
    before = (inputs.replay, *inputs.replay.confirming)
    after = (replay, *replay.confirming)
    assert [(one.crawl, one.name, one.checksum) for one in after] == [
        (one.crawl, one.name, one.checksum) for one in before
    ]
    keys = [("visit_id", "ascending"), ("profile", "ascending"), ("seed", "ascending"), ("iw", "ascending")]
    for was, now in zip(before, after, strict=True):
        (loads,), (kept,) = was.loads, now.loads
        assert kept.select(COLUMNS).equals(loads.sort_by(keys).select(COLUMNS))
