"""Answers for the objects of a page, at their recorded sizes where the content fits."""

import dataclasses

from localweb import markup, object_tree, padding
from localweb.answers import ServedAnswer
from localweb.modes import Mode
from localweb.object_tree import Tree
from localweb.recipes import Page

MEDIA_TYPES = {
    "document": "text/html; charset=utf-8",
    "style": "text/css; charset=utf-8",
    "script": "text/javascript; charset=utf-8",
    "font": "font/woff2",
    "fetch": "application/json",
}
"""Media types by kind, not as recorded: Chromium blocks a script whose type is image/png."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Inexact:
    """An object that is not played at its recorded size, and the reason."""

    page: int
    index: int
    kind: str
    recorded_bytes: int | None
    played_bytes: int
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Played:
    """The answers for a page in a mode."""

    page: Page
    answers: tuple[ServedAnswer, ...]
    inexact: tuple[Inexact, ...]
    moved: int
    """Number of objects that an ancestor of their recorded parent asks for."""


def play(page: Page, mode: Mode) -> Played:
    grown = object_tree.grow(page, mode)
    bodies: dict[int, tuple[bytes, str | None, str]] = {}
    # From the last to the first: a child that does not fit moves to an ancestor, which has a lower index.
    for index in reversed(range(len(page.objects))):
        bodies[index] = body(grown, index)
    answers = tuple(answer(grown, index, *bodies[index]) for index in range(len(page.objects)))
    inexact = tuple(reason for answer in answers if (reason := inexactness(page, answer)))
    return Played(page=page, answers=answers, inexact=inexact, moved=grown.moved)


def body(grown: Tree, index: int) -> tuple[bytes, str | None, str]:
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
    """Return body and encoding; children that do not fit move to an ancestor."""
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
    """Return whether a body of `size` bytes can hold the content, compressed or not."""
    return min(len(core), len(padding.gzip_least(core))) <= size


def lift(grown: Tree, index: int) -> None:
    child = max(grown.children[index])
    grown.children[index].remove(child)
    asker = grown.nearest_asker(child, grown.askers[index])
    grown.children[asker].append(child)
    grown.askers[child] = asker


def answer(grown: Tree, index: int, content: bytes, encoding: str | None, media_type: str) -> ServedAnswer:
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
    return ServedAnswer(
        origin=grown.origins[index],
        path=grown.paths[index],
        status=status if index in grown.targets else played_status(status),
        headers=tuple(headers),
        body=content,
        page=grown.page.number,
        index=index,
    )


def played_status(status: int) -> int:
    """Return the recorded status, or 200 for statuses that a cold load without ranges cannot see."""
    if 300 <= status < 400 or status == 206:
        return 200
    return status


def inexactness(page: Page, given: ServedAnswer) -> Inexact | None:
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
