"""The live log of a browser is cut into visits."""

import asyncio
import json
import time
from pathlib import Path

import pytest

from crawler.browser import logstream
from crawler.browser.logstream import APART_NS, READINGS, LogStream, now_ms, read_clocks
from crawler.errors import LaunchFailed

CONSTANTS = {
    "logEventTypes": {"REQUEST_ALIVE": 1, "URL_REQUEST_START_JOB": 2},
    "logEventPhase": {"PHASE_NONE": 0, "PHASE_BEGIN": 1, "PHASE_END": 2},
    "netError": {},
}
FIRST_LINE = json.dumps({"constants": CONSTANTS})[:-1] + ",\n"


def asked(url: str, source: int, time_ms: int) -> str:
    fields: dict[str, object] = {
        "params": {"method": "GET", "request_type": "main frame", "url": url},
        "phase": 1,
    }
    fields |= {"source": {"id": source, "type": 1}, "time": str(time_ms), "type": 2}
    return json.dumps(fields, separators=(",", ":")) + ",\n"


def test_late_events_of_one_visit_are_not_in_the_next(tmp_path: Path) -> None:
    async def run() -> list[str]:
        log = LogStream(tmp_path / "log")
        with log.path.open("w", encoding="utf-8") as browser:
            browser.write(FIRST_LINE)
            before = now_ms()
            time.sleep(0.005)
            began = log.begin()
            browser.write(asked("https://before.test/beacon", 1, before))
            browser.write(asked("https://now.test/", 2, began))
        await asyncio.to_thread(log.close)
        return [exchange.url for exchange in log.finish().exchanges]

    assert asyncio.run(run()) == ["https://now.test/"]


def test_a_browser_that_ends_before_its_log_begins_has_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logstream, "FIRST_LINE_S", 0.1)

    async def run() -> None:
        log = LogStream(tmp_path / "log")
        log.path.open("w").close()
        with pytest.raises(LaunchFailed, match="wrote no line of its log"):
            await log.missing_events()
        await asyncio.to_thread(log.close)

    asyncio.run(run())


def test_unreadable_lines_count_in_the_visit_in_which_they_came(tmp_path: Path) -> None:
    async def run() -> list[int]:
        log = LogStream(tmp_path / "log")
        counts = []
        with log.path.open("w", encoding="utf-8") as browser:
            browser.write(FIRST_LINE)
            for broken in (0, 2, 1):
                began = log.begin()
                line = asked("https://now.test/", 1, began)
                browser.write(line + line.replace(':{"id"', ':{"id:', 1) * broken + asked("", 2, began))
                browser.flush()
                async with asyncio.timeout(30):
                    while log.lines_lost < broken:
                        await asyncio.sleep(0.01)
                await asyncio.sleep(0.1)
                counts.append(log.lines_lost)
        await asyncio.to_thread(log.close)
        return counts

    assert asyncio.run(run()) == [0, 2, 1]


@pytest.mark.parametrize("torn", [1, READINGS - 1])
def test_a_pause_between_two_clocks_does_not_matter(torn: int, monkeypatch: pytest.MonkeyPatch) -> None:
    wall, monotonic = read_clocks()
    wall_less_monotonic = wall - monotonic
    pauses = iter([0.01] * torn)
    wall_ns = time.time_ns

    def another_threads_turn() -> int:
        now = wall_ns()
        time.sleep(next(pauses, 0))
        return now

    monkeypatch.setattr(time, "time_ns", another_threads_turn)
    wall, monotonic = read_clocks()
    assert abs(wall - monotonic - wall_less_monotonic) < 20 * APART_NS
