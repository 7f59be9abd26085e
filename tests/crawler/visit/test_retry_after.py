from __future__ import annotations

import datetime

import pytest

from crawler.visit.retry_after import LONGEST_S, retry_after_s

NOON = datetime.datetime(2026, 11, 20, 12, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("status", "value", "seconds"),
    [
        (429, "0", 0),
        (503, "120", 120),
        (429, "Fri, 20 Nov 2026 12:01:30 GMT", 90),
        (429, "Fri, 20 Nov 2026 11:00:00 GMT", 0),
        (429, "Fri, 20 Nov 2926 11:00:00 GMT", LONGEST_S),
        (429, "9" * 4000, LONGEST_S),
        (429, None, None),
        (429, "", None),
        (429, "soon", None),
        (429, "-5", None),
        (429, "1.5", None),
        (429, "\u0663", None),
        (200, "120", None),
        (301, "120", None),
        (None, "120", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_of_a_429_or_503(
    status: int | None, value: str | None, seconds: int | None
) -> None:
    assert retry_after_s(status, value, now=NOON) == seconds
