"""Recipes of the bundled pages: structure and sizes as recorded from the real web, without content."""

import collections
import dataclasses
import importlib.resources
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

VERSION = 1

KINDS = ("document", "style", "script", "image", "font", "fetch", "media", "other")
"""Kinds of object, which decide its content and what it can ask for."""

PROTOCOLS = ("http/1.0", "http/1.1", "spdy", "h2", "h3")
"""Recorded protocols; the local web plays SPDY and HTTP/3 as HTTP/2."""

FOUND_BY = ("start", "redirect", "initiator", "referer", "guess")
"""Ways of finding the parent, best first; `start`, the first request, has none."""


class PageRecipeError(Exception):
    """A malformed recipe file, or a page that is not in it."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RecipeSource:
    """The publication of a page's recording."""

    repository: str
    commit: str
    licence: str
    file: str
    """Path in the repository at that commit."""
    tool: str
    date: str
    """Day of the recording, YYYY-MM-DD."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class WebObject:
    """One request and its response."""

    scheme: str
    host: str
    kind: str
    """One of KINDS; a redirect has the kind of its target."""
    mime_type: str
    status: int
    body_bytes: int | None
    """Size of the encoded body; None if the recording does not have it."""
    protocol: str
    method: str
    parent: int | None
    """Index of the object that asked for this one or redirected to it; None for the first."""
    found_by: str

    @property
    def is_redirect(self) -> bool:
        return 300 <= self.status < 400 and self.status != 304


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """One page load: its objects in the order of their requests, beginning with the URL that was visited."""

    number: int
    """Stable number; the paths of its objects begin with it, so that pages may share hosts."""
    objects: tuple[WebObject, ...]
    source: RecipeSource
    repairs: Mapping[str, int]

    @property
    def site(self) -> str:
        return self.objects[0].host

    @property
    def main(self) -> int:
        """Index of the main document, behind its redirects."""
        return next((i for i, thing in enumerate(self.objects) if not thing.is_redirect), 0)

    @property
    def body_bytes(self) -> int:
        return sum(thing.body_bytes or 0 for thing in self.objects)

    @property
    def hosts(self) -> list[str]:
        return list(dict.fromkeys(thing.host for thing in self.objects))


COLUMNS = [field.name for field in dataclasses.fields(WebObject)]
INTERNED = ("scheme", "host", "kind", "mime_type", "protocol", "method", "found_by")
"""Columns that hold an index into a page's list of words, to keep the file small."""


def dump(pages: Iterable[Page]) -> str:
    """Return the file's text, a line a page."""
    lines = ",\n".join(json.dumps(_pack(page), separators=(",", ":")) for page in pages)
    return f'{{"version":{VERSION},"columns":{json.dumps(COLUMNS)},"pages":[\n{lines}\n]}}\n'


def load(text: str) -> list[Page]:
    try:
        document: dict[str, Any] = json.loads(text)
        if document["version"] != VERSION or document["columns"] != COLUMNS:
            raise PageRecipeError(
                f"recipes of version {document['version']}, not {VERSION}: derive them anew"
            )
        pages = [_unpack(page) for page in document["pages"]]
    except (ValueError, KeyError, TypeError, IndexError) as exc:
        raise PageRecipeError(f"not a file of recipes: {exc!r}") from exc
    _check(pages)
    return pages


def load_bundled() -> list[Page]:
    file = importlib.resources.files("localweb") / "recipes.json"
    return load(file.read_text(encoding="ascii"))


def choose(pages: Sequence[Page], wanted: str) -> list[Page]:
    """Return the first N pages if `wanted` is a number, or else those of the comma-separated sites."""
    if wanted.isdigit():
        if not 1 <= int(wanted) <= len(pages):
            raise PageRecipeError(f"--pages {wanted}: there are {len(pages)}, and at least one is needed")
        return list(pages[: int(wanted)])
    by_site = {page.site: page for page in pages}
    names = [name.strip().removesuffix(".test") for name in wanted.split(",")]
    unknown = [name for name in names if name not in by_site]
    if unknown:
        raise PageRecipeError(
            f"no page of {', '.join(unknown)}: `firstflight localweb list` shows what there is"
        )
    return [by_site[name] for name in dict.fromkeys(names)]


class _PackedPage(TypedDict):
    number: int
    source: dict[str, str]
    repairs: dict[str, int]
    words: list[str]
    objects: list[list[Any]]


def _pack(page: Page) -> _PackedPage:
    words: dict[str, int] = {}
    rows = []
    for thing in page.objects:
        values = {name: getattr(thing, name) for name in COLUMNS}
        for name in INTERNED:
            values[name] = words.setdefault(values[name], len(words))
        rows.append(list(values.values()))
    return {
        "number": page.number,
        "source": dataclasses.asdict(page.source),
        "repairs": dict(page.repairs),
        "words": list(words),
        "objects": rows,
    }


def _unpack(packed: _PackedPage) -> Page:
    words = packed["words"]
    objects = []
    for row in packed["objects"]:
        values = dict(zip(COLUMNS, row, strict=True))
        objects.append(WebObject(**{**values, **{name: words[values[name]] for name in INTERNED}}))
    return Page(
        number=packed["number"],
        objects=tuple(objects),
        source=RecipeSource(**packed["source"]),
        repairs=packed["repairs"],
    )


def _check(pages: Sequence[Page]) -> None:
    for page in pages:
        for index, thing in enumerate(page.objects):
            where = f"page {page.number}, object {index}"
            known = thing.kind in KINDS and thing.protocol in PROTOCOLS and thing.found_by in FOUND_BY
            if not known or thing.scheme not in ("http", "https"):
                raise PageRecipeError(f"{where}: unknown scheme, kind, protocol or way of finding its parent")
            if thing.parent is None if index else thing.parent is not None:
                raise PageRecipeError(f"{where}: only the first object has no parent")
            if thing.parent is not None and not 0 <= thing.parent < index:
                raise PageRecipeError(f"{where}: asked for by an object that comes after it")
            if thing.body_bytes is not None and thing.body_bytes < 0:
                raise PageRecipeError(f"{where}: a negative size")
        if (
            not page.objects
            or page.objects[page.main].is_redirect
            or page.objects[page.main].kind != "document"
        ):
            raise PageRecipeError(f"page {page.number}: no main document")
    for what in ("site", "number"):
        counted = collections.Counter(getattr(page, what) for page in pages)
        twice = [str(value) for value, count in counted.items() if count > 1]
        if twice:
            raise PageRecipeError(f"two pages of the same {what}: {', '.join(twice)}")
