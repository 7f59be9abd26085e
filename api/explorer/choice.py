"""What a reader of the explorer chose, and what it suggests to choose beside it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence

from api.explorer.drawing import STYLES
from api.http.problems import Problem
from api.stored.shelf import NAMED, Shelf, Version

MOST_RELEASES = len(STYLES)
"""Releases in one figure: as many as can be told apart."""

MOST_WINDOWS = 8
MOST_SEGMENTS = 1000


def windows(given: Iterable[str]) -> list[int]:
    """The windows in segments that a form or a link names, with commas or spaces between; Problem if a name is no window.

    >>> windows(["3, 10", "16"]), windows([""])
    ([3, 10, 16], [])
    """
    words = [word for text in given for word in re.split(r"[,\s]+", text) if word]
    wrong = [
        word
        for word in words
        if not (word.isascii() and word.isdecimal() and 1 <= int(word[:5]) <= MOST_SEGMENTS)
    ]
    if wrong:
        raise Problem(
            "bad-parameter", f"iw: {wrong[0][:20]!r} is no window from 1 to {MOST_SEGMENTS} segments"
        )
    if len(set(words)) > MOST_WINDOWS:
        raise Problem("bad-parameter", f"iw: a figure has at most {MOST_WINDOWS} windows")
    return sorted({int(word) for word in words})


def releases(shelf: Shelf, given: Sequence[str]) -> list[Version]:
    """The releases that a form or a link names, by crawl or by crawl and version; Problem if one is not there."""
    if len(set(given)) > MOST_RELEASES:
        raise Problem("bad-parameter", f"crawl: a figure has at most {MOST_RELEASES} releases")
    return [_release(shelf, name) for name in dict.fromkeys(given)]


def _release(shelf: Shelf, name: str) -> Version:
    return shelf.named(name) if NAMED.fullmatch(name) else shelf.newest(name)


def beside(shelf: Shelf, chosen: Sequence[Version]) -> Iterator[tuple[str, Version]]:
    """Releases to set beside the first that was chosen, with what they are: a year before, and other devices."""
    if not chosen:
        return
    crawl = chosen[0].crawl
    wanted = {str(crawl.year_before): "a year before"}
    for version in shelf.versions:
        other = version.crawl
        if other.device != crawl.device and dataclasses.replace(other, device=crawl.device) == crawl:
            wanted[str(other)] = other.device
    taken = {str(one.crawl) for one in chosen}
    for name, what in wanted.items():
        if name in shelf.crawls and name not in taken and shelf.newest(name).is_sound:
            yield what, shelf.newest(name)
