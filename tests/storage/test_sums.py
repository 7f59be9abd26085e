import json
import random
import subprocess
from pathlib import Path

import pytest

from storage.sums import MANIFEST, SIGNATURE, SUMS, broken_sums, checksum_of, find_misstated, seal, sums_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sealed = tmp_path / "made"
    sealed.mkdir()
    (sealed / "cells.parquet").write_bytes(bytes(range(256)))
    (sealed / "replay.json").write_text('{"windows": [3, 10]}')
    seal(sealed, {"format_version": 1, "commit": "c0ffee"})
    return sealed


def test_sha256sum_accepts_a_sealed_folder(folder: Path) -> None:
    assert broken_sums(folder) == []
    done = subprocess.run(["sha256sum", "--strict", "-c", SUMS], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["cells.parquet: OK", "manifest.json: OK", "replay.json: OK"]
    manifest = json.loads((folder / MANIFEST).read_text())
    assert manifest["commit"] == "c0ffee"
    assert manifest["files"] == {name: sum_ for name, sum_ in sums_of(folder).items() if name != MANIFEST}


def test_the_same_files_have_the_same_checksum(folder: Path) -> None:
    before = checksum_of(folder)
    seal(folder, {"commit": "c0ffee", "format_version": 1})
    assert checksum_of(folder) == before


@pytest.mark.parametrize("name", ["cells.parquet", "replay.json", MANIFEST, SUMS])
def test_every_single_flipped_bit_is_found(folder: Path, name: str) -> None:
    path = folder / name
    sound = path.read_bytes()
    bits = range(8 * len(sound))
    for bit in random.Random(6928).sample(bits, min(len(bits), 600)):
        spoilt = bytearray(sound)
        spoilt[bit // 8] ^= 1 << bit % 8
        path.write_bytes(spoilt)
        assert broken_sums(folder), f"bit {bit} of {name}"
    path.write_bytes(sound)
    assert broken_sums(folder) == []


def test_missing_truncated_and_added_files_and_folders_are_named(folder: Path) -> None:
    (folder / "notes.txt").touch()
    assert find_misstated(folder) == broken_sums(folder) == ["notes.txt"]
    (folder / "notes.txt").unlink()
    (folder / "replay.json").write_text("")
    assert (find_misstated(folder), broken_sums(folder)) == ([], ["replay.json"])
    (folder / "replay.json").unlink()
    assert find_misstated(folder) == broken_sums(folder) == ["replay.json"]
    (folder / "replay.json").mkdir()
    assert find_misstated(folder) == broken_sums(folder) == ["replay.json"]


def test_files_in_folders_within_have_sums_too(folder: Path) -> None:
    within = folder / "forms" / "figures"
    within.mkdir(parents=True)
    (within / "fig-1.csv").write_text("iw,percent\n")
    assert find_misstated(folder) == broken_sums(folder) == ["forms/figures/fig-1.csv"]
    seal(folder, {"commit": "c0ffee"})
    assert broken_sums(folder) == []
    assert "forms/figures/fig-1.csv" in sums_of(folder)
    done = subprocess.run(["sha256sum", "--strict", "-c", SUMS], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (within / "fig-1.csv").write_text("iw,percent\n10,100\n")
    (folder / "empty").mkdir()
    assert broken_sums(folder) == ["empty", "forms/figures/fig-1.csv"]


def test_a_linked_folder_is_no_part_of_a_sealed_folder(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "secret").touch()
    (folder / "forms").symlink_to(other)
    assert find_misstated(folder) == broken_sums(folder) == ["forms"]


def test_sums_that_agree_with_a_changed_file_do_not_agree_with_the_manifest(folder: Path) -> None:
    (folder / "cells.parquet").write_bytes(b"other")
    manifest = (folder / MANIFEST).read_bytes()
    seal(folder, {"format_version": 1, "commit": "c0ffee"})
    (folder / MANIFEST).write_bytes(manifest)
    assert broken_sums(folder) == ["cells.parquet", MANIFEST]


def test_the_signature_need_not_be_listed(folder: Path) -> None:
    (folder / SIGNATURE).write_text("-----BEGIN SSH SIGNATURE-----")
    assert broken_sums(folder) == []


@pytest.mark.parametrize(
    "line",
    [
        "{sum}  ../secret",
        "{sum}  forms/../../secret",
        "{sum}  /etc/passwd",
        "{sum} *cells.parquet",
        "x",
        "{sum}  SHA256SUMS",
    ],
)
def test_malformed_sums_and_paths_out_of_the_folder_are_refused(folder: Path, line: str) -> None:
    (folder / SUMS).write_text(line.format(sum="ab" * 32) + "\n")
    assert broken_sums(folder) == [SUMS]


def test_an_empty_or_missing_folder_is_broken(tmp_path: Path) -> None:
    assert broken_sums(tmp_path) == broken_sums(tmp_path / "none") == [SUMS]


def test_sums_that_list_nothing_lack_every_file(folder: Path) -> None:
    (folder / SUMS).write_text("")
    assert broken_sums(folder) == ["cells.parquet", MANIFEST, "replay.json"]
