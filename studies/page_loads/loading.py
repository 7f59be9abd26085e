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
from crawler.visit.attempt import Observation
from crawler.visit.visit import visit_page
from replay.networks.profiles import Profile
from studies.page_loads.networks import WINDOWS
from studies.page_loads.shaped_path import ShapedPath

BUDGET_S = 120.0
LATE_US = 5_000
"""Most by which the shaper may have delivered a packet too late for a load to count."""
ATTEMPTS = 3


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
    document_ms: float = 0.0
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


def left(steps_wanted: Iterator[Step], loads: Sequence[RealLoad]) -> list[Step]:
    """Return the loads that are wanted and neither done nor given up."""
    tried: dict[Step, list[bool]] = {}
    for load_ in loads:
        step = Step(network=load_.network, page=load_.page, number=load_.number, iw=load_.iw)
        tried.setdefault(step, []).append(load_.refused is None)
    return [
        step for step in steps_wanted if not any(attempts := tried.get(step, [])) and len(attempts) < ATTEMPTS
    ]


async def load_all(
    path: ShapedPath, network: Profile, steps_left: Sequence[Step], browser: Browser, file_path: Path
) -> None:
    """Make the loads and append each to the file `kept`;
    the first load warms the browser up and is not kept."""
    path.be(network)
    with file_path.open("a", encoding="utf-8") as file:
        for step in tqdm(steps_left, unit="load", disable=None, desc=network.id):
            if step == steps_left[0]:
                await load(path, step, browser)
            for _ in range(ATTEMPTS):
                real_load = await load(path, step, browser)
                file.write(json.dumps(dataclasses.asdict(real_load)) + "\n")
                file.flush()
                if real_load.refused is None:
                    break


async def load(path: ShapedPath, step: Step, browser: Browser) -> RealLoad:
    await asyncio.to_thread(path.use, step.iw)
    path.passed()
    observation = await visit_page(browser, step.page, budget_s=BUDGET_S)
    passed = path.passed()
    real_load = RealLoad(
        **dataclasses.asdict(step), refused=fault(observation), late_us=passed.late_us, dropped=passed.dropped
    )
    if real_load.refused is None and passed.late_us > LATE_US:
        real_load = dataclasses.replace(real_load, refused="the path was late")
    return real_load if real_load.refused else dataclasses.replace(real_load, **times(observation))


def fault(observation: Observation) -> str | None:
    """Return why a visit is no whole load of its page; None if it is."""
    if observation.visit["outcome"] != "ok" or observation.visit["stop_reason"] != "quiet":
        return f"{observation.visit['outcome']}, {observation.visit['stop_reason']}"
    if not all(response["is_complete"] for response in observation.responses if not response["from_cache"]):
        return "a response is incomplete"
    return None


def times(observation: Observation) -> dict[str, Any]:
    """Return the times of a load, as fields of RealLoad."""
    began_us: int = min(connection["opened_us"] for connection in observation.connections)
    crossed = [response for response in observation.responses if not response["from_cache"]]
    document = next(
        response for response in crossed if response["id"] == observation.visit["main_response_id"]
    )

    def since(us: int) -> float:
        return (us - began_us) / 1e3

    return {
        "page_ms": since(max(response["last_byte_us"] for response in crossed)),
        "document_ms": since(document["last_byte_us"]),
        "first_byte_ms": since(document["first_byte_us"]),
        "responses": tuple(
            (
                response["host"] + response["path"],
                since(response["request_sent_us"]),
                since(response["first_byte_us"]),
                since(response["last_byte_us"]),
            )
            for response in crossed
        ),
    }
