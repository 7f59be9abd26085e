"""A folder is replaced as a whole, or stays as it was."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from storage import staging as staged
from storage.modes import UnsafeFolder
from storage.staging import ABANDONED_S, put_file_in_place, put_in_place, put_new, staging


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


def test_an_interrupted_replacement_leaves_the_old_folder(folder: Path) -> None:
    with pytest.raises(IsADirectoryError), put_in_place(folder) as stage:
        stage.write_text("a folder is no file: what a full disk or a bug would do here")
    assert (folder / "index.html").read_text() == "old"
    assert list(folder.parent.iterdir()) == [folder]


def test_if_the_last_rename_fails_the_old_folder_is_restored(
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


@pytest.mark.parametrize("put", [put_in_place, put_new])
def test_a_new_folder_is_on_the_disk_before_it_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put: Callable[[Path], AbstractContextManager[Path]]
) -> None:
    """Or a power failure might leave its files empty, and the old folder gone."""
    place, flushed = tmp_path / "2026", []
    monkeypatch.setattr(staged, "flush", lambda path: flushed.append((path.name, place.exists())))
    with put(place) as stage:
        (stage / "below").mkdir()
        (stage / "below" / "index.html").write_text("new")
    assert {("index.html", False), ("below", False), ("2026", False)} < set(flushed)
    assert flushed[-1] == (tmp_path.name, True)


HOLD = """
import sys
from pathlib import Path
from storage.staging import put_in_place
with put_in_place(Path(sys.argv[1])) as stage:
    (stage / "index.html").write_text("half")
    print("made", flush=True)
    sys.stdin.read()
"""

BETWEEN = """
import sys
from pathlib import Path
from storage.staging import put_in_place
rename = Path.rename
def and_stop(path, target):
    rename(path, target)
    print("made", flush=True)
    sys.stdin.read()
with put_in_place(Path(sys.argv[1])) as stage:
    (stage / "index.html").write_text("new")
    Path.rename = and_stop
"""


def maker(place: Path, code: str = HOLD) -> subprocess.Popen[str]:
    """A process that is still making `place`."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "made\n"
    return process


def grow_old(*paths: Path) -> None:
    long_ago = time.time() - 2 * ABANDONED_S
    for above in paths:
        for path in (above, *above.rglob("*")):
            os.utime(path, (long_ago, long_ago))


def left_in(parent: Path) -> list[Path]:
    return sorted(parent.glob(".building-*"))


def test_stages_of_killed_processes_are_removed_once_old_and_those_of_living_ones_are_kept(
    tmp_path: Path,
) -> None:
    killed, alive = maker(tmp_path / "2025"), maker(tmp_path / "2026")
    killed.kill()
    killed.communicate()
    assert len(left_in(tmp_path)) == 2
    with staging(tmp_path):
        assert (
            len(left_in(tmp_path)) == 3
        )  # the dead one's is not old: a disk that others share may not share locks
    grow_old(*left_in(tmp_path))
    with staging(tmp_path):
        assert len(left_in(tmp_path)) == 2
    alive.communicate("")
    assert list(tmp_path.iterdir()) == [tmp_path / "2026"]
    assert (tmp_path / "2026" / "index.html").read_text() == "half"


def test_a_process_killed_between_the_two_renames_loses_nothing(folder: Path) -> None:
    process = maker(folder, BETWEEN)
    process.kill()
    process.communicate()
    assert not folder.exists()
    grow_old(*left_in(folder.parent))
    with staging(folder.parent):
        assert (folder / "index.html").read_text() == "old"


def test_a_file_is_put_in_place_whole_with_its_mode_and_nothing_is_left(tmp_path: Path) -> None:
    path = tmp_path / "made" / "x.dump"
    with put_file_in_place(path, mode=0o600) as half:
        assert half.stat().st_mode & 0o777 == 0o600
        half.write_text("new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o600)
    with pytest.raises(NotADirectoryError), put_file_in_place(path) as half:
        (half / "x").write_text("a file is no folder: what a full disk or a bug would do here")
    assert path.read_text() == "new"
    assert list(path.parent.iterdir()) == [path]


def test_nothing_is_written_where_everybody_could_replace_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(UnsafeFolder), put_in_place(tmp_path / "2026"):
        pass
    assert list(tmp_path.iterdir()) == []
