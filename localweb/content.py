"""What the local web answers for a page: every object at its recorded size, as far as that can hold it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from localweb import markup, object_tree, padding

if TYPE_CHECKING:
    from localweb.modes import Mode, Origin
    from localweb.object_tree import Tree
    from localweb.recipes import Page

MEDIA_TYPES = {
    "document": "text/html; charset=utf-8",
    "style": "text/css; charset=utf-8",
    "script": "text/javascript; charset=utf-8",
    "font": "font/woff2",
    "fetch": "application/json",
}
"""By kind, not as recorded: Chromium blocks, say, a script that is called an image."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """One response: what a request for its origin and path gets."""

    origin: Origin
    path: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    page: int | None
    """Number of the page; None for what is in no recipe."""
    index: int | None
    """The object's index in the page."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Inexact:
    """An object that is not played at its recorded size."""

    page: int
    index: int
    kind: str
    recorded_bytes: int | None
    played_bytes: int
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Played:
    """A page in a mode."""

    page: Page
    answers: tuple[Answer, ...]
    """By the object's index."""
    inexact: tuple[Inexact, ...]
    moved: int
    """Objects that an ancestor of their recorded parent asks for."""


def play(page: Page, mode: Mode) -> Played:
    """Answers for all objects of a page."""
    grown = object_tree.grow(page, mode)
    bodies: dict[int, tuple[bytes, str | None, str]] = {}
    # From the last: what an object cannot name moves to an ancestor, which stands before it.
    for index in reversed(range(len(page.objects))):
        bodies[index] = body(grown, index)
    answers = tuple(answer(grown, index, *bodies[index]) for index in range(len(page.objects)))
    inexact = tuple(found for one in answers if (found := inexactness(page, one)))
    return Played(page=page, answers=answers, inexact=inexact, moved=grown.moved)


def body(grown: Tree, index: int) -> tuple[bytes, str | None, str]:
    """Encoded body, content encoding and media type of one object."""
    thing = grown.page.objects[index]
    media_type = MEDIA_TYPES.get(thing.kind, "application/octet-stream")
    if thing.status in object_tree.EMPTY:
        return b"", None, media_type
    size = thing.body_bytes or 0
    if index in grown.targets:
        return padding.noise(size, seed=index), None, "text/html"
    if thing.kind in markup.COMMENTS:
        return *text(grown, index), media_type
    if thing.kind == "image":
        media_type, pixels = padding.image(size)
        return pixels, None, media_type
    return padding.noise(size, seed=index), None, media_type


def text(grown: Tree, index: int) -> tuple[bytes, str | None]:
    """Body and encoding of a document, script or sheet; children that do not fit move to an ancestor."""
    thing = grown.page.objects[index]
    opening, closing = markup.COMMENTS[thing.kind]
    while True:
        core = markup.render(grown, index)
        size = thing.body_bytes
        if size is None or (index == grown.page.main and not fits(core, size)):
            return (padding.gzip_least(core), "gzip") if core else (b"", None)
        if packed := padding.gzip_exactly(core, size, opening=opening, closing=closing):
            return packed, "gzip"
        plain = padding.text_exactly(core, size, opening=opening, closing=closing)
        if plain is not None:
            return plain, None
        lift(grown, index)


def fits(core: bytes, size: int) -> bool:
    """Whether a body of `size` bytes can hold the content, compressed or not."""
    return min(len(core), len(padding.gzip_least(core))) <= size


def lift(grown: Tree, index: int) -> None:
    """Let an ancestor ask for the last child."""
    child = max(grown.children[index])
    grown.children[index].remove(child)
    asker = grown.nearest_asker(child, grown.askers[index])
    grown.children[asker].append(child)
    grown.askers[child] = asker


def answer(grown: Tree, index: int, content: bytes, encoding: str | None, media_type: str) -> Answer:
    """The response with its header."""
    status = grown.page.objects[index].status
    headers = [
        ("content-type", media_type),
        ("access-control-allow-origin", "*"),
        ("timing-allow-origin", "*"),
        ("cache-control", "max-age=3600"),
    ]
    if encoding:
        headers.append(("content-encoding", encoding))
    if index in grown.targets:
        headers.append(("location", grown.url(grown.targets[index], seen_from=None)))
    return Answer(
        origin=grown.origins[index],
        path=grown.paths[index],
        status=status if index in grown.targets else played_status(status),
        headers=tuple(headers),
        body=content,
        page=grown.page.number,
        index=index,
    )


def played_status(status: int) -> int:
    """The recorded status, but for those that a cold load without ranges cannot see."""
    if 300 <= status < 400 or status == 206:
        return 200
    return status


def inexactness(page: Page, given: Answer) -> Inexact | None:
    """How an answer's size differs from the recorded one, if it does."""
    assert given.index is not None
    thing = page.objects[given.index]
    if thing.body_bytes == len(given.body):
        return None
    if thing.body_bytes is None:
        reason = "size unknown"
    elif thing.status in object_tree.EMPTY:
        reason = f"a {thing.status} has no body"
    else:
        reason = "too small for its content"
    return Inexact(
        page=page.number,
        index=given.index,
        kind=thing.kind,
        recorded_bytes=thing.body_bytes,
        played_bytes=len(given.body),
        reason=reason,
    )
