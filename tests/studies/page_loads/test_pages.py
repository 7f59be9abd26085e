"""Pages of a release become pages of the local web with the same structure."""

from typing import Any

from localweb import recipes
from localweb.recipes import RecipeSource
from replay.recipes.page_recipe import Recipe
from studies.page_loads.pages import FIRST_NUMBER, page_of
from tests.factories.lab_networks import make_page

SOURCE = RecipeSource(repository="r", commit="c", licence="l", file="f", tool="t", date="2025-08")


def recipe(*parents: int, document: int) -> Recipe:
    objects = [
        {"parent": parent, "is_document": number == document}
        for number, parent in enumerate(parents, start=1)
    ]
    return make_page(7, *objects, page="a.invalid", host="a.invalid", port=443, h2=True)


def row(kind: str, **more: Any) -> dict[str, Any]:
    facts = {"host": "a.invalid", "resource_type": kind, "mime_type": None, "status": 200}
    return {**facts, "wire_bytes": 1000, "body_bytes": 900, "redirected_from_id": None, **more}


ROWS = {
    1: row("document", status=301),
    2: row("document", redirected_from_id=1),
    3: row("iframe", body_bytes=None),
    4: row("manifest"),
}


def test_redirects_documents_frames_and_unknown_kinds_keep_their_parents() -> None:
    page = page_of(recipe(-1, 0, 1, 2, document=2), ROWS, SOURCE)
    assert page is not None
    assert [(object_.kind, object_.parent, object_.found_by) for object_ in page.objects] == [
        ("document", None, "start"),
        ("document", 0, "redirect"),
        ("document", 1, "initiator"),
        ("other", 2, "initiator"),
    ]
    assert page.number == FIRST_NUMBER + 7
    assert recipes.load(recipes.dump([page])) == [page]


def test_a_body_of_unknown_size_counts_with_its_header() -> None:
    page = page_of(recipe(-1, 0, 1, 2, document=2), ROWS, SOURCE)
    assert page is not None
    assert [object_.body_bytes for object_ in page.objects] == [900, 900, 1000, 900]


def test_a_page_that_begins_with_anything_but_redirects_is_left_out() -> None:
    assert page_of(recipe(-1, -1, document=2), {1: row("image"), 2: row("document")}, SOURCE) is None
