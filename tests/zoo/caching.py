"""Cases of caching headers, valid and invalid, with the columns that must be stored for each."""

from tests.zoo.case import Case, Page, quote
from tests.zoo.replies import answer

DATE = "date: Sun, 01 Nov 2026 12:00:00 GMT"
HOUR_LATER = "expires: Sun, 01 Nov 2026 13:00:00 GMT"
DAY_BEFORE = "last-modified: Sat, 31 Oct 2026 12:00:00 GMT"

HELD: dict[str, tuple[tuple[str, ...], tuple[bool, bool, str, int | None, int | None, bool]]] = {
    "nothing": ((), (False, False, "none", None, None, False)),
    "max-age": (
        ("cache-control: public, max-age=600", "age: 100", 'etag: "1"'),
        (False, False, "max-age", 600, 100, True),
    ),
    "shared": (("cache-control: s-maxage=600",), (False, False, "none", None, None, False)),
    "no-store": (("cache-control: no-store",), (True, False, "none", None, None, False)),
    "no-cache": (("cache-control: no-cache", DAY_BEFORE), (False, True, "none", None, None, True)),
    "vary": (("cache-control: max-age=600", "vary: *"), (False, True, "max-age", 600, None, False)),
    "expires": ((DATE, HOUR_LATER), (False, False, "expires", 3600, None, False)),
    "expired": ((DATE, "expires: 0"), (False, False, "expires", 0, None, False)),
    "undated": ((HOUR_LATER,), (False, False, "expires", None, None, False)),
    "zone": ((DATE, HOUR_LATER.replace("GMT", "PST")), (False, False, "expires", 0, None, False)),
    "guessed": ((DATE, DAY_BEFORE), (False, False, "heuristic", 8640, None, True)),
    "huge": (
        ("cache-control: max-age=99999999999999999999",),
        (False, False, "max-age", 2**31 - 1, None, False),
    ),
    "negative": (("cache-control: max-age=-1", "age: -5"), (False, False, "max-age", 0, None, False)),
    "word": (
        ("cache-control: max-age=soon", "last-modified: yesterday"),
        (False, False, "max-age", 0, None, False),
    ),
    "twice": (
        ("cache-control: max-age=60", "cache-control: max-age=600, no-cache", "age: 7, 9"),
        (False, True, "max-age", 60, 7, False),
    ),
    "quoted": (
        ('cache-control: ext="a, no-store", max-age="60"',),
        (False, False, "max-age", 60, None, False),
    ),
    "not-ascii": (
        ("cache-control: max-age=6\xb2, \xe9t\xe9=1", 'etag: "\xe9"'),
        (False, False, "max-age", 0, None, True),
    ),
}
"""Header fields by the last segment of the path, and the columns of
schema.http_caching in their order, written out."""

CACHING = Page(
    host="caching.test",
    cases=(
        Case(
            id="freshness",
            routes={f"HERE/{name}": answer(b"x", *lines) for name, (lines, _) in HELD.items()},
            script=f"for (const name of {quote(list(HELD))}) await get('HERE/' + name);",
        ),
    ),
)

PAGES = (CACHING,)
