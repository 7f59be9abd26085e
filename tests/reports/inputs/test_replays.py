"""The replay that a report takes: which are read, and which are refused,
in one line that tells what to run."""

import dataclasses
import random
from pathlib import Path

import pytest

from reports.document.illustrative import illustrative_because
from reports.inputs.replays import ReportError
from storage.sums import seal
from tests.factories.made_up_crawl import NAME
from tests.factories.made_up_report import (
    FEW_CELLS,
    crawl,
    data_folder,
    populations,
    read_data_folder,
    replay_cells,
    stage_of,
    write_release,
    write_replay,
)
from tests.factories.signing import make_signer

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
