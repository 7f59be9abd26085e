"""Turns the exchanges of a recording into a page: repairs them and finds the parent of each."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from localweb.recipes import Page, RecipeError, Source, WebObject
from recordings.exchange import RecordedExchange
from recordings.order import find_parents, first_load, kind_of


def page(
    exchanges: Sequence[RecordedExchange], *, number: int, source: Source, splits_loads: bool = False
) -> Page:
    """Return the recipe of one load. `splits_loads` splits a recording of several loads where it was quiet."""
    kept, repairs = first_load(exchanges, by_silence=splits_loads)
    if not kept:
        raise RecipeError(f"{source.file}: nothing in it that crossed the network")
    repairs.update(repair for one in kept for repair in one.repairs)
    repairs.update(url_asked_again=len(kept) - len({one.url for one in kept}))
    repairs.update(size_unknown=sum(one.body_bytes is None for one in kept))
    repairs.update(method_played_as_get=sum(one.method != "GET" for one in kept))
    parents = find_parents(kept)
    kinds = settle_kinds(kept, parents)
    objects = tuple(
        web_object(one, kind, parent, how)
        for one, kind, (parent, how) in zip(kept, kinds, parents, strict=True)
    )
    return Page(
        number=number, objects=objects, source=source, repairs={k: v for k, v in sorted(repairs.items()) if v}
    )


def settle_kinds(kept: Sequence[RecordedExchange], parents: Sequence[tuple[int | None, str]]) -> list[str]:
    """Return the kind of each exchange; a redirect has the kind of its target, whatever its own media type."""
    kinds = [kind_of(one) for one in kept]
    for index in reversed(range(len(kept))):
        above, how = parents[index]
        if how == "redirect" and above is not None:
            kinds[above] = kinds[index]
    return kinds


def web_object(one: RecordedExchange, kind: str, parent: int | None, how: str) -> WebObject:
    """Return what the recipe keeps of an exchange: names and sizes, no content."""
    url = urlsplit(one.url)
    return WebObject(
        scheme=url.scheme,
        host=(url.hostname or "").lower(),
        kind=kind,
        mime_type=one.mime_type,
        status=one.status,
        body_bytes=one.body_bytes,
        protocol=one.protocol,
        method=one.method,
        parent=parent,
        found_by=how,
    )
