"""Pictures of the pages are kept together, small, and never half replaced."""

from pathlib import Path

import pytest

from scripts.screens.__main__ import MOST_KB, PICTURES, ScreensError, name_of, write
from scripts.screens.site import EDITION


def test_pictures_replace_those_that_were_there(tmp_path: Path) -> None:
    folder = tmp_path / "screens"
    write(folder, {"home/390-dark.webp": b"before", "gone/390-dark.webp": b"before"})
    assert write(folder, {"home/390-dark.webp": b"x" * 5000}) == 5
    assert [path.name for path in folder.iterdir()] == ["home"]


def test_too_much_is_refused_before_anything_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "screens"
    write(folder, {"home/390-dark.webp": b"before"})
    with pytest.raises(ScreensError, match=f"at most {MOST_KB} kB"):
        write(folder, {"home/390-dark.webp": bytes(MOST_KB * 1000 + 1000)})
    assert (folder / "home/390-dark.webp").read_bytes() == b"before"


def test_the_pictures_in_the_repository_are_within_the_bound_and_show_the_edition_in_every_form() -> None:
    files = [path for path in PICTURES.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= MOST_KB * 1000
    assert {path.name for path in (PICTURES / "edition").iterdir()} == {
        "1280-light.webp",
        "1280-dark.webp",
        "390-light.webp",
        "390-dark.webp",
        "paper.webp",
    }
    assert EDITION.is_dir()
    assert name_of("/reports/2026/v2/") == "edition"
