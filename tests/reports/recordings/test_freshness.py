import pytest

from reports.recordings.exchange import Exchange
from reports.recordings.freshness import fresh_s

NOON = "Sun, 01 Nov 2026 12:00:00 GMT"
ONE = "Sun, 01 Nov 2026 13:00:00 GMT"
A_DAY_BEFORE = "Sat, 31 Oct 2026 12:00:00 GMT"


def fresh(headers: dict[str, str], *, method: str = "GET", status: int = 200) -> int:
    return fresh_s(Exchange(url="http://a.example/", method=method, status=status, headers=headers))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"cache-control": "max-age=600"}, 600),
        ({"cache-control": "public, Max-Age=600, immutable"}, 600),
        ({"cache-control": 'max-age="600"'}, 600),
        ({"cache-control": "max-age=600", "age": "100"}, 500),
        ({"cache-control": "max-age=600", "age": "700"}, 0),
        ({"cache-control": "max-age=0", "date": NOON, "expires": ONE}, 0),
        ({"cache-control": "max-age=soon"}, 0),
        ({"cache-control": "s-maxage=600"}, 0),  # of shared caches
        ({"cache-control": "s-maxage=600, max-age=60"}, 60),
        ({"cache-control": "no-store, max-age=600"}, 0),
        ({"cache-control": "no-cache, max-age=600"}, 0),
        ({"cache-control": "max-age=600", "vary": "*"}, 0),
        ({"cache-control": "max-age=600", "vary": "Accept-Encoding"}, 600),
        ({"date": NOON, "expires": ONE}, 3600),
        ({"date": NOON, "expires": NOON}, 0),
        ({"date": NOON, "expires": "0"}, 0),
        ({"expires": ONE}, 0),  # of a day that nobody told
        ({"date": NOON, "last-modified": A_DAY_BEFORE}, 8640),  # a tenth of a day
        ({"date": NOON, "last-modified": ONE}, 0),
        ({"cache-control": "private", "date": NOON, "last-modified": A_DAY_BEFORE}, 8640),
    ],
)
def test_a_response_is_fresh_as_long_as_its_header_says(headers: dict[str, str], seconds: int) -> None:
    assert fresh(headers) == seconds


def test_what_may_be_guessed_depends_on_the_status_and_what_is_said_does_not() -> None:
    guessed = {"date": NOON, "last-modified": A_DAY_BEFORE}
    assert (fresh(guessed, status=301), fresh(guessed, status=302)) == (8640, 0)
    assert fresh({"cache-control": "max-age=600"}, status=302) == 600


def test_parts_and_what_was_not_got_are_not_reused() -> None:
    assert fresh({"cache-control": "max-age=600"}, status=206) == 0
    assert fresh({"cache-control": "max-age=600"}, method="POST") == 0
