"""Content that is made for a recipe: it requests exactly the recipe's objects, in order, at their sizes."""

import gzip
import re
from collections.abc import Callable

import pytest

from localweb import object_tree, recipes
from localweb.answers import ServedAnswer
from localweb.content import Played, play
from localweb.modes import Mode
from localweb.recipes import Page, WebObject

Make = Callable[..., WebObject]
MakePage = Callable[..., Page]

URL = re.compile(r"(?:https?:)?//[^\s\"'()<>]+")


def text(answer: ServedAnswer) -> str:
    body = gzip.decompress(answer.body) if ("content-encoding", "gzip") in answer.headers else answer.body
    return re.split(rb"<!--|/\*", body, maxsplit=1)[0].decode("latin-1")


def named(played: Played) -> dict[int, list[int]]:
    """Return the objects that each object's content or location names, by index."""
    by_url = {f"//{answer.origin.host}{answer.path}": answer for answer in played.answers}
    collected: dict[int, list[int]] = {}
    for answer in played.answers:
        location = dict(answer.headers).get("location")
        urls = [location] if location else []
        if dict(answer.headers)["content-type"].startswith("text/") and not location:
            urls = URL.findall(text(answer))
        targets = [by_url[url[url.index("//") :]] for url in urls]
        assert answer.index is not None
        collected[answer.index] = [target.index for target in targets if target.index is not None]
    return collected


@pytest.fixture(scope="module", params=list(Mode))
def everything(request: pytest.FixtureRequest) -> list[Played]:
    return [play(page, request.param) for page in recipes.load_bundled()]


def test_every_object_is_named_once_by_something_before_it(everything: list[Played]) -> None:
    for played in everything:
        asked = [(child, asker) for asker, children in named(played).items() for child in children]

        assert sorted(child for child, _ in asked) == list(range(1, len(played.page.objects)))
        assert all(asker < child for child, asker in asked)


def test_nearly_every_object_is_named_by_its_recorded_parent(everything: list[Played]) -> None:
    objects = moved = 0
    for played in everything:
        askers = {child: asker for asker, children in named(played).items() for child in children}
        differ = sum(
            asker != played.page.objects[child].parent
            for child, asker in askers.items()
            if child > played.page.main
        )
        assert differ == played.moved
        objects, moved = objects + len(askers), moved + differ
    assert moved / objects < 0.03


def test_sizes_are_exact_but_for_those_that_are_listed(everything: list[Played]) -> None:
    for played in everything:
        differ = {
            answer.index: (thing.body_bytes, len(answer.body))
            for thing, answer in zip(played.page.objects, played.answers, strict=True)
            if thing.body_bytes != len(answer.body)
        }
        listed = {inexact.index: (inexact.recorded_bytes, inexact.played_bytes) for inexact in played.inexact}
        assert differ == listed
        assert all(inexact.reason for inexact in played.inexact)
    assert sum(len(played.inexact) for played in everything) == 42


def test_no_page_of_https_names_anything_by_http(everything: list[Played]) -> None:
    for played in everything:
        top = played.answers[played.page.main].origin.scheme
        below = {answer.origin.scheme for answer in played.answers[played.page.main :]}
        assert top == "http" or below == {"https"}


def test_each_mode_has_its_schemes() -> None:
    page = recipes.load_bundled()[19]  # recorded partly by http, partly by https
    schemes = {mode: {answer.origin.scheme for answer in play(page, mode).answers} for mode in Mode}

    assert schemes == {
        Mode.H1: {"http"},
        Mode.H1TLS: {"https"},
        Mode.H2: {"https"},
        Mode.RECORDED: {"http", "https"},
    }


def test_a_page_begins_at_the_root_of_its_site(everything: list[Played]) -> None:
    for played in everything:
        roots = [answer for answer in played.answers if answer.path == "/"]
        assert [root.index for root in roots] == [0]
        assert roots[0].origin.host == played.page.site + ".test"


def test_no_two_objects_of_all_pages_share_a_url(everything: list[Played]) -> None:
    urls = [(answer.origin, answer.path) for played in everything for answer in played.answers]

    assert len(urls) == len(set(urls))


def test_a_child_that_does_not_fit_moves_to_an_ancestor(make_page: MakePage, make_object: Make) -> None:
    page = make_page(
        make_object("document", None), make_object("script", 0, body_bytes=60), make_object("image", 1)
    )
    played = play(page, Mode.H2)

    assert named(played) == {0: [1, 2], 1: [], 2: []}
    assert played.moved == 1
    assert played.inexact == ()


def test_a_main_document_too_small_for_its_children_grows_and_is_listed(
    make_page: MakePage, make_object: Make
) -> None:
    page = make_page(make_object("document", None, body_bytes=30), make_object("image", 0))
    (inexact,) = play(page, Mode.H2).inexact

    assert (inexact.index, inexact.recorded_bytes, inexact.reason) == (0, 30, "too small for its content")
    assert inexact.played_bytes > 30


def test_an_unknown_size_is_listed_and_not_taken_for_zero(make_page: MakePage, make_object: Make) -> None:
    page = make_page(
        make_object("document", None),
        make_object("image", 0, body_bytes=None),
        make_object("image", 0, body_bytes=0),
    )

    assert [(inexact.index, inexact.reason) for inexact in play(page, Mode.H1).inexact] == [
        (1, "size unknown")
    ]


def test_a_recorded_304_is_played_as_an_empty_200(make_page: MakePage, make_object: Make) -> None:
    page = make_page(make_object("document", None), make_object("image", 0, status=304, body_bytes=0))
    played = play(page, Mode.H1)

    assert (played.answers[1].status, played.answers[1].body) == (200, b"")
    assert played.inexact == ()


def test_what_an_image_or_a_failed_script_asked_for_is_asked_for_by_an_ancestor(
    make_page: MakePage, make_object: Make
) -> None:
    page = make_page(
        make_object("document", None),
        make_object("script", 0, status=404),
        make_object("image", 1),
        make_object("image", 2),
    )
    played = play(page, Mode.H2)

    assert named(played)[0] == [1, 2, 3]
    assert played.moved == 2


def test_a_sheet_asks_for_sheets_images_and_fonts_alone(make_page: MakePage, make_object: Make) -> None:
    page = make_page(
        make_object("document", None),
        make_object("style", 0),
        *(make_object(kind, 1) for kind in ("style", "image", "font", "font", "script", "fetch")),
        make_object("font", 2),
    )
    played = play(page, Mode.H2)
    document, sheet = text(played.answers[0]), text(played.answers[1])

    assert named(played)[1] == [2, 3, 4, 5]
    assert sorted(named(played)[0]) == [1, 6, 7]
    # An element for each sheet that has something to show, the imported one included.
    assert "<i class=c1>" in document
    assert "<i class=c2>" in document
    assert "unicode-range:U+100}" in sheet
    assert "unicode-range:U+101}" in sheet


def test_a_redirect_leads_to_its_target_and_asks_for_nothing_else(
    make_page: MakePage, make_object: Make
) -> None:
    page = make_page(
        make_object("document", None, status=301, body_bytes=100),
        make_object("document", 0, found_by="redirect"),
        make_object("image", 1, status=302, body_bytes=7),
        make_object("image", 2, found_by="redirect"),
        make_object("image", 2, found_by="redirect"),
    )
    played = play(page, Mode.H1TLS)

    assert named(played) == {0: [1], 1: [2, 4], 2: [3], 3: [], 4: []}
    assert [len(answer.body) for answer in played.answers[:3]] == [100, 2000, 7]
    assert dict(played.answers[0].headers)["location"] == "https://site.example.test/1/1.html"


def test_below_an_https_frame_nothing_is_asked_for_by_http(make_page: MakePage, make_object: Make) -> None:
    clear = {"scheme": "http", "protocol": "http/1.1"}
    page = make_page(
        make_object("document", None, **clear),
        make_object("document", 0),
        make_object("image", 1, **clear),
        make_object("script", 1, **clear),
        make_object("image", 3, **clear),
        make_object("image", 0, **clear),
    )
    schemes = [answer.origin.scheme for answer in play(page, Mode.RECORDED).answers]

    assert schemes == ["http", "https", "https", "https", "https", "http"]


def test_a_script_runs_in_the_document_that_it_was_asked_from(make_page: MakePage, make_object: Make) -> None:
    page = make_page(
        make_object("document", None),
        make_object("script", 0),
        make_object("document", 1),
        make_object("script", 2),
    )
    grown = object_tree.grow(page, Mode.H2)

    assert [grown.document_of(index) for index in range(4)] == [0, 0, 2, 2]
