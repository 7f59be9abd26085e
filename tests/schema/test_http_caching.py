import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema.http_caching import COLUMNS, HEADERS, LIFETIMES, LONGEST_S, can_be_confirmed, fresh_s, read
from schema.tables import Response

NOON = "Sun, 01 Nov 2026 12:00:00 GMT"
ONE = "Sun, 01 Nov 2026 13:00:00 GMT"
A_DAY_BEFORE = "Sat, 31 Oct 2026 12:00:00 GMT"

OCTETS = st.binary(max_size=20).map(lambda octets: octets.decode("latin-1"))


def row(headers: dict[str, str], *, method: str = "GET", status: int = 200) -> dict[str, object]:
    return {"method": method, "status": status, **dataclasses.asdict(read(status, headers))}


def fresh(headers: dict[str, str], *, method: str = "GET", status: int = 200) -> int | None:
    return fresh_s(row(headers, method=method, status=status))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"cache-control": "max-age=600"}, 600),
        ({"cache-control": "public, Max-Age=600, immutable"}, 600),
        ({"cache-control": 'max-age="600"'}, 600),
        ({"cache-control": "max-age=600", "age": "100"}, 500),
        ({"cache-control": "max-age=600", "age": "700"}, 0),
        ({"cache-control": "max-age=600", "age": "100, 700"}, 500),  # the first member (§5.1)
        ({"cache-control": "max-age=600", "age": "-100"}, 600),
        ({"cache-control": "max-age=0", "date": NOON, "expires": ONE}, 0),
        ({"cache-control": "max-age=soon"}, 0),
        ({"cache-control": "max-age=soon", "date": NOON, "expires": ONE}, 0),  # nor is another asked then
        ({"cache-control": "max-age=-600"}, 0),
        ({"cache-control": "max-age=6.5"}, 0),
        ({"cache-control": 'max-age="600'}, 0),
        ({"cache-control": "max-age"}, 0),
        ({"cache-control": "max-age=\uff16\uff10\uff10"}, 0),
        ({"cache-control": "max-age=60, max-age=600"}, 60),  # the first (§4.2.1)
        ({"cache-control": f"max-age={'9' * 20}"}, LONGEST_S),
        ({"cache-control": f"max-age={'9' * 9000}"}, LONGEST_S),
        ({"cache-control": f"max-age={'0' * 9000}7"}, 7),
        ({"cache-control": "x!max-age=600"}, 0),
        ({"cache-control": "s-maxage=600"}, 0),  # of shared caches
        ({"cache-control": "s-maxage=600, max-age=60"}, 60),
        ({"cache-control": "no-store, max-age=600"}, 0),
        ({"cache-control": 'ext="a, no-store", max-age=600'}, 600),
        ({"cache-control": "no-cache, max-age=600"}, 0),
        ({"cache-control": 'no-cache="set-cookie", max-age=600'}, 0),
        ({"cache-control": "max-age=600", "vary": "*"}, 0),
        ({"cache-control": "max-age=600", "vary": "Accept, *"}, 0),
        ({"cache-control": "max-age=600", "vary": "Accept-Encoding"}, 600),
        ({"date": NOON, "expires": ONE}, 3600),
        ({"date": NOON, "expires": "Sunday, 01-Nov-26 13:00:00 GMT"}, 3600),
        ({"date": NOON, "expires": "Sun Nov  1 13:00:00 2026"}, 3600),
        ({"date": NOON, "expires": ONE.lower()}, 3600),
        ({"date": NOON, "expires": ONE.replace("GMT", "EST")}, 0),
        ({"date": NOON, "expires": ONE.replace("GMT", "UTC")}, 0),
        ({"date": NOON, "expires": ONE.replace("01 Nov", "31 Nov")}, 0),
        ({"date": NOON, "expires": ONE.replace(" ", " " * 99_999, 1) + "x"}, 0),
        ({"date": NOON, "expires": ONE.replace("2026", "9" * 5000)}, 0),
        ({"date": NOON, "expires": f"{ONE}, {NOON}"}, 0),
        ({"date": "Mon, 01 Jan 0001 00:00:00 GMT", "expires": ONE.replace("2026", "9999")}, LONGEST_S),
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


@pytest.mark.parametrize(
    ("headers", "by", "seconds"),
    [
        ({}, "none", None),
        ({"cache-control": "max-age=soon"}, "max-age", 0),
        ({"date": NOON, "expires": "0"}, "expires", 0),
        ({"expires": ONE}, "expires", None),
        ({"date": NOON, "last-modified": A_DAY_BEFORE}, "heuristic", 8640),
        ({"last-modified": A_DAY_BEFORE}, "none", None),
    ],
)
def test_expired_absent_and_unknown_lifetimes_are_distinguished(
    headers: dict[str, str], by: str, seconds: int | None
) -> None:
    freshness = read(200, headers)
    assert (freshness.lifetime_by, freshness.lifetime_s) == (by, seconds)


def test_only_heuristic_lifetimes_depend_on_the_status() -> None:
    guessed = {"date": NOON, "last-modified": A_DAY_BEFORE}
    assert (fresh(guessed, status=301), fresh(guessed, status=302)) == (8640, 0)
    assert fresh({"cache-control": "max-age=600"}, status=302) == 600


def test_partial_responses_and_other_methods_than_get_are_not_reused() -> None:
    assert fresh({"cache-control": "max-age=600"}, status=206) == 0
    assert fresh({"cache-control": "max-age=600"}, method="POST") == 0


def test_without_a_recorded_header_the_freshness_is_unknown() -> None:
    for unknown in ({}, dict.fromkeys(COLUMNS)):
        assert fresh_s({"method": "GET", "status": 200, **unknown}) is None
        assert not can_be_confirmed({"method": "GET", "status": 200, **unknown})


@pytest.mark.parametrize(
    ("headers", "holds"),
    [
        ({"etag": '"1"'}, True),
        ({"etag": 'W/"1"', "cache-control": "no-cache"}, True),
        ({"last-modified": A_DAY_BEFORE}, True),
        ({"last-modified": "yesterday"}, False),  # a server ignores it (RFC 9110 §13.1.3)
        ({"etag": ""}, False),
        ({"etag": '"1"', "cache-control": "no-store"}, False),
        ({}, False),
    ],
)
def test_a_stored_response_with_a_validator_can_be_confirmed(headers: dict[str, str], holds: bool) -> None:
    assert can_be_confirmed(row(headers)) == holds


def test_only_complete_responses_to_get_can_be_confirmed() -> None:
    for method, status in (("POST", 200), ("GET", 301), ("GET", 206), ("GET", 404)):
        assert not can_be_confirmed(row({"etag": '"1"'}, method=method, status=status))


def test_its_fields_are_columns_of_a_response() -> None:
    assert set(COLUMNS) <= set(Response.__table__.columns.keys())


@given(
    st.none() | st.integers(100, 999),
    st.dictionaries(
        st.sampled_from(sorted(HEADERS)),
        OCTETS | st.builds("max-age={}{}".format, st.integers(), OCTETS) | st.sampled_from([NOON, ONE]),
    ),
)
def test_any_header_can_be_read_and_every_value_fits_its_column(
    status: int | None, headers: dict[str, str]
) -> None:
    freshness = read(status, headers)
    assert freshness.lifetime_by in LIFETIMES
    for seconds in (freshness.lifetime_s, freshness.age_s):
        assert seconds is None or 0 <= seconds <= LONGEST_S
