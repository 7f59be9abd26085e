"""Sizes of real entries of HAR files, of which numbers alone are kept: what producers wrote,
and what it means.

facts.csv was written by `python -m studies.recorded_sizes`, which compares every entry with another reader's;
its column `reason` is a column of that study's table. The files are from sitespeedio's pagexray, coach-core
and compare (docs/sources.md).
"""

import csv
from pathlib import Path
from typing import Any

import pytest

from recordings import har
from recordings.files.rows import sizes_of, wire_bytes

FACTS = Path(__file__).with_name("facts.csv")

Fact = dict[str, str]


def facts() -> list[Fact]:
    with FACTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def number(word: str) -> int | None:
    return int(word) if word else None


def entry_of(fact: Fact) -> dict[str, Any]:
    """An entry with the numbers of a fact, and no names."""
    fields = {
        "content-length": fact["content_length"],
        "content-encoding": "gzip" if fact["is_encoded"] == "1" else "",
        "location": "https://b.example/" if fact["location"] == "1" else "",
    }
    response = {
        "status": int(fact["status"]),
        "headers": [{"name": name, "value": value} for name, value in fields.items() if value],
        "content": {"size": number(fact["content_size"])},
        "headersSize": number(fact["headers_size"]),
        "bodySize": number(fact["body_size"]),
    }
    if fact["transfer_size"]:
        response["_transferSize"] = int(fact["transfer_size"])
    return {
        "startedDateTime": "2020-02-02T02:02:02Z",
        "_protocol": fact["protocol"],
        "request": {"method": fact["method"], "url": "https://a.example/", "headers": []},
        "response": response,
    }


@pytest.mark.parametrize(
    "fact", facts(), ids=lambda fact: f"{fact['producer']} {fact['protocol']} {fact['reason']}"
)
def test_a_size_is_what_its_producer_counted(fact: Fact) -> None:
    creator = {"name": fact["producer"], "version": fact["version"]}
    (found,) = har.read({"creator": creator, "entries": [entry_of(fact)]})
    assert found.body_bytes == number(fact["body"])
    assert wire_bytes(found) == number(fact["total"])


def test_an_unknown_size_has_a_reason_and_is_never_zero() -> None:
    for fact in facts():
        creator = {"name": fact["producer"], "version": fact["version"]}
        (found,) = har.read({"creator": creator, "entries": [entry_of(fact)]})
        sizes = sizes_of(found)
        assert (sizes.wire_bytes is None) == (sizes.wire_bytes_unknown is not None)
        assert sizes.wire_bytes != 0
        assert sizes.header_bytes is None or sizes.header_bytes > 0


def test_the_facts_hold_every_way_in_which_sizes_differ_between_readers() -> None:
    reasons = {fact["reason"] for fact in facts()}
    assert reasons >= {"equal", "total", "bodiless", "unknown_there", "unknown_here", "decompressed"}


def playwright(protocol: str, **sizes: int) -> dict[str, Any]:
    fact = dict.fromkeys(facts()[0], "") | {
        "status": "200", "method": "GET", "protocol": protocol, "content_length": "38920", "content_size": "120000",  # noqa: E501
        "is_encoded": "1",
    }  # fmt: skip
    one = entry_of(fact)
    one["response"] |= sizes
    return one


@pytest.mark.parametrize("total", [{}, {"_transferSize": 39_024}])
def test_playwrights_body_over_h2_and_h3_holds_the_header(total: dict[str, int]) -> None:
    for protocol in ("h2", "h3"):
        one = playwright(protocol, headersSize=0, bodySize=39_024, **total)
        (found,) = har.read({"creator": {"name": "Playwright", "version": "1.65"}, "entries": [one]})
        assert (found.header_bytes, found.body_bytes, wire_bytes(found)) == (104, 38_920, 39_024)


def test_playwrights_negative_body_is_a_response_from_the_cache() -> None:
    one = playwright("http/1.1", headersSize=191, bodySize=-191, _transferSize=0)
    (found,) = har.read({"creator": {"name": "Playwright", "version": "1.65"}, "entries": [one]})
    assert found.is_cached
    assert sizes_of(found).wire_bytes_unknown == "from_cache"
