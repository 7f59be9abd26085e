import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from storage.staging import scratch_folder

HOLD = """
import os, sys, time
from storage.staging import scratch_folder
with scratch_folder() as folder:
    (folder / "left").mkdir()
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def holder() -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_all_temporary_files_are_made_in_it_and_removed_with_it(above: Path) -> None:
    with scratch_folder() as folder:
        assert folder.parent == above
        assert Path(tempfile.mkdtemp()).parent == folder
        assert os.environ["TMPDIR"] == str(folder)
        child = subprocess.run(["mktemp", "-d"], capture_output=True, text=True, check=True).stdout
        assert Path(child.strip()).parent == folder
    assert list(above.iterdir()) == []
    assert tempfile.gettempdir() == os.environ["TMPDIR"] == str(above)


def test_nobody_else_may_enter_it(above: Path) -> None:
    with scratch_folder() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700


def test_a_later_run_removes_the_folder_of_a_killed_one_and_no_other(above: Path) -> None:
    killed, dead = holder()
    alive, kept = holder()
    (above / "firstflight-data").mkdir()
    killed.kill()
    killed.communicate()
    assert (dead / "left").exists()
    with scratch_folder() as folder:
        assert set(above.iterdir()) == {kept, folder, above / "firstflight-data"}
        assert (kept / "left").exists()
    alive.communicate("")
    assert list(above.iterdir()) == [above / "firstflight-data"]


def test_a_link_with_its_name_is_not_followed(above: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "kept").touch()
    (above / ".firstflight-scratch-x").symlink_to(elsewhere)
    with scratch_folder():
        pass
    assert (elsewhere / "kept").exists()


def test_a_fifo_with_its_name_is_not_waited_for(above: Path) -> None:
    code = "from storage.staging import scratch_folder\nwith scratch_folder(): pass"
    os.mkfifo(above / ".firstflight-scratch-x")
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
