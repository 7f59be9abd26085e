"""Pictures of the pages are kept together, small, and never half replaced; the lab gets a page of the release."""

import json
from pathlib import Path

import pytest

from scripts.screens.__main__ import (
    EACH_ONCE,
    MOST_KB,
    OF_CHOICES,
    OF_EDITION,
    PICTURES,
    ROOT,
    SHEETS,
    ScreensError,
    name_of,
    write,
)
from scripts.screens.browser import SCHEMES, SIZES
from scripts.screens.lab import har
from scripts.screens.site import EDITION
from tests.api.rows.conftest import CRAWL, NAME, made_up, serving, write_crawl
from tests.factories.made_up_recording import recipe_of_har


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
    ways = {f"{width}-{scheme}" for width in SIZES for scheme in SCHEMES}
    parts = {f"{part}-{width}-{scheme}" for part in OF_EDITION for width, scheme in EACH_ONCE}
    sheets = {"paper", *(f"print-{sheet}" for sheet in SHEETS)}
    assert {path.stem for path in (PICTURES / "edition").iterdir()} == ways | parts | sheets
    shown = (ROOT / "docs" / "forms.md").read_text(encoding="utf-8")
    assert [name for name in ways | parts | sheets if f"edition/{name}.webp" not in shown] == []
    assert EDITION.is_dir()
    assert name_of("/reports/2026/v2/") == "edition"


def test_the_explorer_has_pictures_of_two_devices_two_years_and_several_months() -> None:
    for name, ways in OF_CHOICES.items():
        assert {path.stem for path in (PICTURES / name).iterdir()} == {
            f"{width}-{scheme}" for width, scheme in ways
        }


def test_the_page_that_the_lab_gets_has_the_responses_of_known_size(tmp_path: Path) -> None:
    write_crawl(tmp_path / "releases", NAME, made_up())
    with serving(tmp_path / "releases") as client:
        page = client.get("/v1/pages/1", params={"crawl": CRAWL}).json()
    recipe = recipe_of_har(tmp_path, *json.loads(har(page))["log"]["entries"])
    sizes = [one["wire_bytes"] for one in page["responses"] if one["wire_bytes"] is not None]
    # A HAR has bodies: the recipe adds the same small header to each.
    (header_bytes,) = {one.response_bytes - size for one, size in zip(recipe.objects, sizes, strict=True)}
    assert 0 <= header_bytes < 100
