"""A page is quiet once nothing in it leads to another request: not while it computes, and not while others
have the processors."""

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.crawler.visiting import visit_hosts
from tests.zoo.raw import Answer, RawWeb, answer, html

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STEPS = 4
COMPUTE = "for (let n = 0, sum = 0; n < 6e7; n++) sum += n;"
"""Takes a tenth of a second of a processor."""
WAIT = "for (const began = performance.now(); performance.now() - began < 1200;);"
"""Takes 1.2 seconds, however fast the machine is."""

BURNERS = 8
"""Processes that compute all the time on the browser's processor."""
BURN_S = 240
BURN = f"import time\nend = time.monotonic() + {BURN_S}\nwhile time.monotonic() < end: pass"


def step(work: str) -> str:
    return f"(async () => {{for (let n = 1; n <= {STEPS}; n++) {{{work} await fetch('/' + n);}}}})();"


def script(source: str) -> Answer:
    return answer(source.encode(), "Content-Type: text/javascript")


def hop(work: str, n: int) -> Answer:
    return html(f"<script>{work} location.href = '/{n + 1}';</script>" if n < STEPS else "the end")


def pages(work: str) -> dict[str, Answer]:
    """Return pages whose script, worker and documents work before each request, by host and path."""
    asked = {
        f"{host}/{n}": answer(b"x") for host in ("script.test", "worker.test") for n in range(1, STEPS + 1)
    }
    return {
        "script.test/": html(f"<script>{step(work)}</script>"),
        "worker.test/": html("<script>new Worker('/main');</script>"),
        "worker.test/main": script(step(work)),
        "hops.test/": hop(work, 0),
        **asked,
        **{f"hops.test/{n}": hop(work, n) for n in range(1, STEPS + 1)},
    }


@contextlib.contextmanager
def busy_machine() -> Iterator[None]:
    """Leave one processor to what this process starts, and compute on it, each process in a group of its own
    for the scheduler; others are left to other tests."""
    usable = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(usable)})
    burners = [subprocess.Popen([sys.executable, "-c", BURN], start_new_session=True) for _ in range(BURNERS)]
    try:
        yield
    finally:
        os.sched_setaffinity(0, usable)
        for burner in burners:
            burner.kill()
            burner.wait()


def check_visits(answers: dict[str, Answer]) -> None:
    hosts = sorted({place.partition("/")[0] for place in answers})
    visits = asyncio.run(visit_hosts(RawWeb(answers), *hosts, budget_s=120, settle_s=60))
    for host, seen in zip(hosts, visits, strict=True):
        wanted = sorted(place for place in answers if place.startswith(host))
        assert sorted(row["host"] + row["path"] for row in seen.responses if row["wire_bytes"]) == wanted
        assert (seen.visit["outcome"], seen.visit["stop_reason"]) == ("ok", "quiet")


def test_a_page_is_not_quiet_while_it_computes() -> None:
    check_visits(pages(WAIT))


def test_a_page_is_not_quiet_while_other_processes_have_the_processors() -> None:
    with busy_machine():
        check_visits(pages(COMPUTE))
