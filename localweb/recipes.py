"""Recipes of the bundled pages: their structure and sizes, as recorded from the real web, and no content."""

from __future__ import annotations

import collections
import dataclasses
import importlib.resources
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

VERSION = 1
"""Of the file's form; a reader refuses any other."""

KINDS = ("document", "style", "script", "image", "font", "fetch", "media", "other")
"""What asked for an object: decides what plays it and who can name it."""

PROTOCOLS = ("http/1.0", "http/1.1", "spdy", "h2", "h3")
"""As recorded; the local web plays SPDY and H3 as H2."""

FOUND_BY = ("start", "redirect", "initiator", "referer", "guess")
"""How the parent was found, best first; `start` for the first request, which has none."""


class RecipeError(Exception):
    """A recipe file that is not one, or a page that it does not hold."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Where a page was recorded, so that anybody can go and look."""

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
    """One of KINDS; for a redirect, that of the object at its end."""
    mime_type: str
    status: int
    body_bytes: int | None
    """Encoded body; None where the recording does not tell."""
    protocol: str
    method: str
    parent: int | None
    """Index of the object that asked for this one, or that redirected to it; None for the first."""
    found_by: str

    @property
    def is_redirect(self) -> bool:
        """Whether its response sent the browser elsewhere."""
        return 300 <= self.status < 400 and self.status != 304


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """One page load: its objects in the order of asking, the first of which is what the user typed."""

    number: int
    """Stable: heads the paths of its objects, so that pages may share hosts."""
    objects: tuple[WebObject, ...]
    source: Source
    repairs: Mapping[str, int]
    """What the derivation changed, counted by reason."""

    @property
    def site(self) -> str:
        """The recorded host that the page is found under."""
        return self.objects[0].host

    @property
    def main(self) -> int:
        """Index of the main document, behind the redirects that lead to it."""
        return next((i for i, thing in enumerate(self.objects) if not thing.is_redirect), 0)

    @property
    def body_bytes(self) -> int:
        """Sum of the bodies whose size is known."""
        return sum(thing.body_bytes or 0 for thing in self.objects)

    @property
    def hosts(self) -> list[str]:
        """Hosts in the order of their first request."""
        return list(dict.fromkeys(thing.host for thing in self.objects))


COLUMNS = [field.name for field in dataclasses.fields(WebObject)]
INTERNED = ("scheme", "host", "kind", "mime_type", "protocol", "method", "found_by")
"""Columns that hold an index into a page's list of words: what keeps the file small."""


def dump(pages: Iterable[Page]) -> str:
    """The file's text: a line a page, a short array an object."""
    lines = ",\n".join(json.dumps(_pack(page), separators=(",", ":")) for page in pages)
    return f'{{"version":{VERSION},"columns":{json.dumps(COLUMNS)},"pages":[\n{lines}\n]}}\n'


def load(text: str) -> list[Page]:
    """The pages that `dump` wrote, checked."""
    try:
        document: dict[str, Any] = json.loads(text)
        if document["version"] != VERSION or document["columns"] != COLUMNS:
            raise RecipeError(f"recipes of version {document['version']}, not {VERSION}: derive them anew")
        pages = [_unpack(page) for page in document["pages"]]
    except (ValueError, KeyError, TypeError, IndexError) as exc:
        raise RecipeError(f"not a file of recipes: {exc!r}") from exc
    _check(pages)
    return pages


def bundled() -> list[Page]:
    """The pages that come with firstflight."""
    file = importlib.resources.files("localweb") / "recipes.json"
    return load(file.read_text(encoding="ascii"))


def choose(pages: Sequence[Page], wanted: str) -> list[Page]:
    """The first N of the pages where `wanted` is a number, or those whose sites it names, comma-separated."""
    if wanted.isdigit():
        if not 1 <= int(wanted) <= len(pages):
            raise RecipeError(f"--pages {wanted}: there are {len(pages)}, and at least one is needed")
        return list(pages[: int(wanted)])
    by_site = {page.site: page for page in pages}
    names = [name.strip().removesuffix(".test") for name in wanted.split(",")]
    unknown = [name for name in names if name not in by_site]
    if unknown:
        raise RecipeError(f"no page of {', '.join(unknown)}: `firstflight localweb list` shows what there is")
    return [by_site[name] for name in dict.fromkeys(names)]


def _pack(page: Page) -> dict[str, Any]:
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


def _unpack(packed: dict[str, Any]) -> Page:
    words: list[str] = packed["words"]
    objects = []
    for row in packed["objects"]:
        values = dict(zip(COLUMNS, row, strict=True))
        objects.append(WebObject(**{**values, **{name: words[values[name]] for name in INTERNED}}))
    return Page(
        number=packed["number"],
        objects=tuple(objects),
        source=Source(**packed["source"]),
        repairs=packed["repairs"],
    )


def _check(pages: Sequence[Page]) -> None:
    for page in pages:
        for index, thing in enumerate(page.objects):
            where = f"page {page.number}, object {index}"
            known = thing.kind in KINDS and thing.protocol in PROTOCOLS and thing.found_by in FOUND_BY
            if not known or thing.scheme not in ("http", "https"):
                raise RecipeError(f"{where}: unknown scheme, kind, protocol or way of finding its parent")
            if thing.parent is None if index else thing.parent is not None:
                raise RecipeError(f"{where}: only the first object has no parent")
            if thing.parent is not None and not 0 <= thing.parent < index:
                raise RecipeError(f"{where}: asked for by an object that comes after it")
            if thing.body_bytes is not None and thing.body_bytes < 0:
                raise RecipeError(f"{where}: a negative size")
        if (
            not page.objects
            or page.objects[page.main].is_redirect
            or page.objects[page.main].kind != "document"
        ):
            raise RecipeError(f"page {page.number}: no main document")
    for what in ("site", "number"):
        counted = collections.Counter(getattr(page, what) for page in pages)
        twice = [str(value) for value, count in counted.items() if count > 1]
        if twice:
            raise RecipeError(f"two pages of the same {what}: {', '.join(twice)}")
