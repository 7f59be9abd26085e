import os
from pathlib import Path

import pytest

from storage.modes import UnsafeFolder, check_above, make_private


def test_a_folder_that_everybody_could_replace_is_refused_in_one_line(tmp_path: Path) -> None:
    data = tmp_path / "open" / "data"
    data.mkdir(parents=True)
    check_above(data)
    for folder in (data, data.parent):
        folder.chmod(0o777)
        with pytest.raises(UnsafeFolder) as refused:
            check_above(data)
        assert str(refused.value) == (
            f"{folder} can be written by everybody on this machine: run `chmod o-w {folder}` first"
        )
        folder.chmod(0o1777)
        check_above(data)


def test_the_target_of_a_link_is_checked(tmp_path: Path) -> None:
    (tmp_path / "open" / "data").mkdir(parents=True)
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "open" / "data")
    with pytest.raises(UnsafeFolder):
        check_above(tmp_path / "link")


def test_a_private_folder_is_made_private_again(tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    for mode in (0o700, 0o755):
        make_private(folder)
        assert folder.stat().st_mode & 0o777 == 0o700
        folder.chmod(mode)


def test_a_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(UnsafeFolder, match="belongs to another user"):
        make_private(tmp_path)
