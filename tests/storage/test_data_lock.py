"""Nothing is made of what was measured while a site is erased of it."""

from pathlib import Path

import pytest

from storage.data_lock import LOCK, InUse, erasing, making

REMEDY = "wait for its end, and repeat this"


def test_many_may_make_something_and_one_alone_may_erase(tmp_path: Path) -> None:
    with making(tmp_path), making(tmp_path), pytest.raises(InUse, match=REMEDY), erasing(tmp_path):
        pass
    for other in (making, erasing):
        with erasing(tmp_path), pytest.raises(InUse, match=REMEDY), other(tmp_path):
            pass
    with making(tmp_path):
        pass


def test_a_folder_that_cannot_be_written_is_left_to_what_is_made_there(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with making(tmp_path / "file" / "data"):
        pass
    with pytest.raises(OSError, match="Not a directory"), erasing(tmp_path / "file" / "data"):
        pass
    assert not (tmp_path / LOCK).exists()
