"""Recorded NetLogs of the tests, and damage to them."""

import gzip
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from crawler.netlog.assembler import EVENTS, assemble
from crawler.netlog.event import Event
from crawler.netlog.lines import LineReader
from crawler.visit.rows import TrafficRows, make_rows

LOGS = Path(__file__).parents[1] / "logs/netlog"
NAMES = sorted(path.name.removesuffix(".json.gz") for path in LOGS.glob("*.json.gz"))


@cache
def recorded(name: str) -> tuple[Event[Any], ...]:
    lines = gzip.decompress((LOGS / f"{name}.json.gz").read_bytes()).splitlines()
    reader = LineReader(EVENTS)
    events = tuple(reader.events(lines))
    assert reader.ignored == 0
    return events


def assemble_rows(log: Iterable[Event[Any]]) -> TrafficRows:
    return make_rows(assemble(log), [], start_ms=0, salt=b"", error_name=str)


DAMAGE = ["cut", "doubled", "some doubled", "repeated", "some lost", "shuffled"]


def damage(log: tuple[Event[Any], ...], data: st.DataObject, ways: list[str]) -> list[Event[Any]]:
    """Return a piece of a log, with doubled, shuffled or missing events."""
    start = data.draw(st.integers(0, len(log)))
    piece = list(log[start : data.draw(st.integers(start, len(log)))])
    match data.draw(st.sampled_from(ways)):
        case "doubled":
            return [event for event in piece for _ in range(2)]
        case "some doubled":
            every = data.draw(st.integers(1, 50))
            return [event for n, event in enumerate(piece) for _ in range(1 + (n % every == 0))]
        case "repeated":
            return piece * 2
        case "some lost":
            every = data.draw(st.integers(2, 50))
            return [event for n, event in enumerate(piece) if n % every]
        case "shuffled":
            data.draw(st.randoms(use_true_random=False)).shuffle(piece)
    return piece
