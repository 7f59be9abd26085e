import importlib.resources
import json
from collections.abc import Callable
from typing import Any

import pytest

from localweb import recipes
from localweb.recipes import PageRecipeError


def test_thirty_pages_come_with_firstflight() -> None:
    pages = recipes.load_bundled()

    assert len(pages) == 30
    assert len({page.site for page in pages}) == 30
    assert all(len(page.objects) >= 10 for page in pages)
    assert sum(len(page.objects) for page in pages) == 3775
    assert len({host for page in pages for host in page.hosts}) == 460


def test_every_page_says_where_it_was_recorded() -> None:
    for page in recipes.load_bundled():
        assert page.source.repository.count("/") == 1
        assert len(page.source.commit) == 40
        assert all((page.source.licence, page.source.file, page.source.tool))
        assert "2012" <= page.source.date[:4] <= "2024"


def test_few_parents_are_guessed_and_few_sizes_are_unknown() -> None:
    things = [thing for page in recipes.load_bundled() for thing in page.objects]

    assert sum(thing.found_by == "guess" for thing in things) <= 0.01 * len(things)
    assert sum(thing.body_bytes is None for thing in things) <= 0.01 * len(things)


def test_the_bundled_file_is_the_one_that_dump_writes() -> None:
    pages = recipes.load_bundled()
    file = importlib.resources.files("localweb") / "recipes.json"

    assert recipes.dump(pages) == file.read_text(encoding="ascii")


def sound() -> dict[str, Any]:
    page = {
        "number": 1,
        "source": dict.fromkeys(("repository", "commit", "licence", "file", "tool", "date"), ""),
        "repairs": {},
        "words": ["https", "a.example", "document", "text/html", "h2", "GET", "start", "image", "guess"],
        "objects": [[0, 1, 2, 3, 200, 9, 4, 5, None, 6], [0, 1, 7, 3, 200, 9, 4, 5, 0, 8]],
    }
    return {"version": recipes.VERSION, "columns": recipes.COLUMNS, "pages": [page]}


def put(row: int, column: int, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda document: document["pages"][0]["objects"][row].__setitem__(column, value)


def test_a_sound_file_is_read() -> None:
    (page,) = recipes.load(json.dumps(sound()))

    assert page.site == "a.example"
    assert page.objects[1].kind == "image"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda document: document.update(version=99), "of version 99"),
        (put(1, 8, 1), "comes after it"),
        (put(1, 8, None), "only the first object"),
        (put(0, 8, 0), "only the first object"),
        (put(1, 6, 8), "unknown scheme, kind, protocol"),
        (put(1, 5, -1), "negative size"),
        (put(1, 2, 77), "not a file of recipes"),
        (put(0, 2, 7), "no main document"),
        (put(0, 4, 302), "no main document"),
        (lambda document: document["pages"][0]["objects"][1].pop(), "not a file of recipes"),
        (lambda document: document["pages"][0]["objects"].clear(), "no main document"),
        (lambda document: document["pages"].append(document["pages"][0]), "two pages of the same site"),
    ],
)
def test_an_unsound_file_is_refused(damage: Callable[[dict[str, Any]], object], message: str) -> None:
    document = sound()
    damage(document)

    with pytest.raises(PageRecipeError, match=message):
        recipes.load(json.dumps(document))


def test_a_file_of_something_else_is_refused() -> None:
    for text in ("", "[]", "{}", '{"version": 1}'):
        with pytest.raises(PageRecipeError):
            recipes.load(text)


def test_pages_are_chosen_by_number_or_by_site() -> None:
    pages = recipes.load_bundled()

    assert recipes.choose(pages, "2") == pages[:2]
    assert recipes.choose(pages, "www.cnet.com.test, bing.com,bing.com") == [pages[12], pages[0]]


@pytest.mark.parametrize("wanted", ["0", "31", "no.such.example", "", "bing.com,no.such.example"])
def test_a_choice_of_what_is_not_there_is_refused(wanted: str) -> None:
    with pytest.raises(PageRecipeError):
        recipes.choose(recipes.load_bundled(), wanted)
