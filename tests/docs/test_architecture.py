"""docs/architecture.md shows the packages and imports that are there."""

from tests.docs.architecture import PAGE, without_shortcuts, written


def test_the_page_has_the_present_packages_and_imports() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page), "run: .venv/bin/python -m tests.docs.architecture"


def test_an_import_that_a_longer_way_says_too_is_left_out() -> None:
    way = {("schema", "storage"), ("storage", "releases"), ("releases", "api")}
    assert without_shortcuts(way | {("schema", "api"), ("schema", "releases")}) == way
