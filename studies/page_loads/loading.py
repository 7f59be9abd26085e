"""Loads of pages by Chromium over the shaped path, one at a time, kept as they are made."""

import asyncio
import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from crawler.browser.browser import Browser
from crawler.visit.observation import Observation
from crawler.visit.visit import visit_page
from replay.networks.profiles import Profile
from studies.page_loads.networks import WINDOWS
from studies.page_loads.shaped_path import ShapedPath

BUDGET_S = 120.0
LATE_US = 5_000
"""Most by which the shaper may have delivered a packet too late for a load to count."""
ATTEMPTS = 3
"""Attempts for a load; after them the page has one load fewer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One load that is wanted."""

    network: str
    page: str
    number: int
    """Number of the load of this page at this window, from 1."""
    iw: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RealLoad:
    """One load by Chromium; times in milliseconds since its first SYN."""

    network: str
    page: str
    number: int
    iw: int
    refused: str | None
    """Why the load does not count; None if it does."""
    late_us: int
    dropped: int
    page_ms: float = 0.0
    """Last byte of the last response."""
    document_ms: float = 0.0
    """Last byte of the main document."""
    first_byte_ms: float = 0.0
    """First byte of the main document that the browser could use."""
    responses: tuple[tuple[str, float, float, float], ...] = ()
    """URL without its scheme; times of the request, of the first and the last byte."""


def steps(network: Profile, pages: Sequence[str], loads: int) -> Iterator[Step]:
    """Yield all loads over a network, round by round; the windows in turn,
    so that they share what disturbs the machine."""
    for number in range(1, loads + 1):
        for page in pages:
            for iw in WINDOWS:
                yield Step(network=network.id, page=page, number=number, iw=iw)


def read_loads(path: Path) -> list[RealLoad]:
    """Read the loads that were kept; none if there is no file."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [RealLoad(**{**(row := json.loads(line)), "responses": _tuples(row)}) for line in lines]


def _tuples(row: dict[str, Any]) -> tuple[tuple[Any, ...], ...]:
    return tuple(map(tuple, row["responses"]))


def left(wanted: Iterator[Step], kept: Sequence[RealLoad]) -> list[Step]:
    """Return the loads that are wanted and neither done nor given up."""
    tried: dict[Step, list[bool]] = {}
    for one in kept:
        step = Step(network=one.network, page=one.page, number=one.number, iw=one.iw)
        tried.setdefault(step, []).append(one.refused is None)
    return [step for step in wanted if not any(said := tried.get(step, [])) and len(said) < ATTEMPTS]


async def load_all(
    path: ShapedPath, network: Profile, wanted: Sequence[Step], browser: Browser, kept: Path
) -> None:
    """Make the loads and append each to the file `kept`;
    the first load warms the browser up and is not kept."""
    path.be(network)
    with kept.open("a", encoding="utf-8") as file:
        for step in tqdm(wanted, unit="load", disable=None, desc=network.id):
            if step == wanted[0]:
                await load(path, step, browser)
            for _ in range(ATTEMPTS):
                done = await load(path, step, browser)
                file.write(json.dumps(dataclasses.asdict(done)) + "\n")
                file.flush()
                if done.refused is None:
                    break


async def load(path: ShapedPath, step: Step, browser: Browser) -> RealLoad:
    """Load a page once at a window."""
    await asyncio.to_thread(path.use, step.iw)
    path.passed()
    seen = await visit_page(browser, step.page, budget_s=BUDGET_S)
    passed = path.passed()
    done = RealLoad(
        **dataclasses.asdict(step), refused=fault(seen), late_us=passed.late_us, dropped=passed.dropped
    )
    if done.refused is None and passed.late_us > LATE_US:
        done = dataclasses.replace(done, refused="the path was late")
    return done if done.refused else dataclasses.replace(done, **times(seen))


def fault(seen: Observation) -> str | None:
    """Return why a visit is no whole load of its page; None if it is."""
    if seen.visit["outcome"] != "ok" or seen.visit["stop_reason"] != "quiet":
        return f"{seen.visit['outcome']}, {seen.visit['stop_reason']}"
    if not all(response["is_complete"] for response in seen.responses if not response["from_cache"]):
        return "a response is incomplete"
    return None


def times(seen: Observation) -> dict[str, Any]:
    """Return the times of a load, as fields of RealLoad."""
    began_us: int = min(connection["opened_us"] for connection in seen.connections)
    crossed = [response for response in seen.responses if not response["from_cache"]]
    document = next(one for one in crossed if one["id"] == seen.visit["main_response_id"])

    def since(us: int) -> float:
        return (us - began_us) / 1e3

    return {
        "page_ms": since(max(one["last_byte_us"] for one in crossed)),
        "document_ms": since(document["last_byte_us"]),
        "first_byte_ms": since(document["first_byte_us"]),
        "responses": tuple(
            (
                one["host"] + one["path"],
                since(one["request_sent_us"]),
                since(one["first_byte_us"]),
                since(one["last_byte_us"]),
            )
            for one in crossed
        ),
    }
