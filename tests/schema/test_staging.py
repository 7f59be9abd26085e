"""A folder takes its place whole, or what was there stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from schema.staging import put_in_place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "2026"
    with put_in_place(place) as stage:
        (stage / "index.html").write_text("old")
    return place


def test_a_new_folder_takes_the_place_of_the_old_one(folder: Path) -> None:
    with put_in_place(folder) as stage:
        (stage / "summary.txt").write_text("new")
    assert [path.name for path in folder.iterdir()] == ["summary.txt"]
    assert list(folder.parent.iterdir()) == [folder]


def test_one_that_breaks_off_leaves_the_old_one(folder: Path) -> None:
    with pytest.raises(IsADirectoryError), put_in_place(folder) as stage:
        stage.write_text("a folder is no file: what a full disk or a bug would do here")
    assert (folder / "index.html").read_text() == "old"
    assert list(folder.parent.iterdir()) == [folder]


def test_where_the_last_step_fails_the_old_one_comes_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def fail_for_the_new(path: Path, target: Path) -> Path:
        if target == folder and path.parent.name == "new":
            raise OSError("no space left on device")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail_for_the_new)
    with pytest.raises(OSError, match="no space left"), put_in_place(folder) as stage:
        (stage / "index.html").write_text("new")
    assert (folder / "index.html").read_text() == "old"
    assert list(folder.parent.iterdir()) == [folder]
