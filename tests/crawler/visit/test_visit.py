"""A visit ends in one of the ways that the schema knows, and keeps what had arrived."""

import asyncio
import os
import re
import signal
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from crawler.browser.browser import DATA_LIMIT_BYTES, Browser
from crawler.errors import BrowserMissing
from crawler.visit.attempt import WRITER_COLUMNS, BrowserDied, Observation
from crawler.visit.recorder import Recorder
from crawler.visit.visit import visit_page
from localweb.faults import Fault
from localweb.modes import Mode
from localweb.server import LocalWeb
from schema.tables import OBSERVATIONS
from schema.vocabulary import OUTCOMES
from tests.crawler.visiting import AMPLE_S
from tests.zoo.raw import Answer, RawWeb, answer, html

pytestmark = pytest.mark.browser

BUDGET_S = 4.0


def run(chromium: Path, web: Any, *hosts: str, late: Collection[str] = ()) -> list[Observation]:
    """Visits the hosts one after the other with one browser;
    the clock ends the visits of those that are `late`."""

    async def crawl() -> list[Observation]:
        async with web, Browser.launch(chromium, flags=web.browser_flags) as browser:
            return [
                await visit_page(browser, host, budget_s=BUDGET_S if host in late else AMPLE_S, settle_s=1.0)
                for host in hosts
            ]

    return asyncio.run(crawl())


def ending(observation: Observation) -> tuple[Any, ...]:
    return tuple(observation.visit[name] for name in ("outcome", "stop_reason", "error", "scheme", "status"))


FAULTS = {
    Fault.REFUSED: ("connect", "failed", "net::ERR_CONNECTION_REFUSED", "https", None),
    Fault.SILENT: ("timeout", "budget", "the time budget ran out", "https", None),
    Fault.BAD_CERTIFICATE: ("tls", "failed", "net::ERR_CERT_AUTHORITY_INVALID", "https", None),
    Fault.HANDSHAKE_FAILURE: ("tls", "failed", "net::ERR_SSL_VERSION_OR_CIPHER_MISMATCH", "https", None),
    Fault.NO_ANSWER: ("timeout", "budget", "the time budget ran out", "https", None),
    Fault.NEVER_ENDING: ("timeout", "budget", "the time budget ran out", "https", 200),
    Fault.DRIP: ("timeout", "budget", "the time budget ran out", "https", 200),
    Fault.RESET: ("bad_response", "quiet", "net::ERR_CONNECTION_RESET", "https", 200),
    Fault.NOT_FOUND: ("http_error", "quiet", None, "https", 404),
    Fault.SERVER_ERROR: ("http_error", "quiet", None, "https", 500),
    Fault.REDIRECT_LOOP: ("redirect_loop", "failed", "net::ERR_TOO_MANY_REDIRECTS", "https", None),
}


@pytest.mark.slow
@pytest.mark.outcomes(*(ending[0] for ending in FAULTS.values()))
@pytest.mark.parametrize("mode", [pytest.param(Mode.H1TLS, marks=pytest.mark.thorough), Mode.H2])
def test_a_site_at_fault_has_the_outcome_of_its_fault(mode: Mode, chromium: Path) -> None:
    hosts = {f"{fault.value.replace('_', '-')}.test": fault for fault in FAULTS}
    web = LocalWeb([], mode=mode, faults=hosts)
    late = [host for host, fault in hosts.items() if FAULTS[fault][0] == "timeout"]
    observations = dict(zip(hosts.values(), run(chromium, web, *hosts, late=late), strict=True))
    endings = {fault: ending(observation) for fault, observation in observations.items()}
    wanted = dict(FAULTS)
    if mode is Mode.H2:
        wanted[Fault.RESET] = ("bad_response", "quiet", endings[Fault.RESET][2], "https", 200)
    assert endings == wanted
    assert observations[Fault.NEVER_ENDING].visit["received_bytes"] > 50_000
    assert observations[Fault.NEVER_ENDING].responses[0]["wire_bytes"] > 50_000


ENDINGS: dict[str, tuple[Answer, tuple[Any, ...]]] = {
    "plain.test": (html("hello"), ("ok", "quiet", None, "http", 200)),
    "empty.test": (
        Answer(b"", 0, close=True),
        ("bad_response", "failed", "net::ERR_EMPTY_RESPONSE", "http", None),
    ),
    "download.test": (
        answer(b"x" * 5000, "Content-Type: application/zip", "Content-Disposition: attachment"),
        ("aborted", "failed", "Download is starting", "http", 200),
    ),
    "short.test": (
        answer(b"<p>short", "Content-Type: text/html", length=900),
        ("timeout", "budget", "the time budget ran out", "http", 200),
    ),
    "nobody.example": (html(""), ("dns", "failed", "net::ERR_NAME_NOT_RESOLVED", "https", None)),
    "dialogs.test": (
        html("<script>alert(1);confirm(2);prompt(3);onbeforeunload=e=>e.preventDefault()</script>"),
        ("ok", "quiet", None, "http", 200),
    ),
    "popup.test": (html("<script>open('/popup')</script>"), ("ok", "quiet", None, "http", 200)),
    "stream.test": (html("<script>fetch('/stream')</script>"), ("ok", "busy", None, "http", 200)),
}


@pytest.mark.outcomes(*(str(ending[0]) for _, ending in ENDINGS.values()))
def test_a_hostile_page_ends_in_time_and_does_not_affect_the_next(chromium: Path) -> None:
    answers = {f"{host}/": answer for host, (answer, _) in ENDINGS.items()}
    stream = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: x\n\n"
    answers["stream.test/stream"] = Answer(stream, 9, stall=True)
    seen = run(chromium, RawWeb(answers), *ENDINGS, late=["short.test"])
    assert [ending(observation) for observation in seen] == [wanted for _, wanted in ENDINGS.values()]


def test_the_rows_are_those_of_the_schema(chromium: Path) -> None:
    (seen,) = run(chromium, RawWeb({"a.test/": html("<img src=/b?secret=1>")}), "a.test")
    rows = [seen.visit, seen.connections[0], seen.responses[0]]
    for table, row in zip(OBSERVATIONS, rows, strict=True):
        keys = WRITER_COLUMNS - (set() if table is OBSERVATIONS[0] else {"id", "host"})
        assert set(row) == {column.name for column in table.__table__.columns} - keys, table
    assert seen.visit["outcome"] in OUTCOMES
    assert [
        (response["path"], response["query_hash"] is None, response["initiator_id"])
        for response in seen.responses
    ] == [("/", True, None), ("/b", False, 1)]


STALLED = Answer(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + b"x" * 5000, 5000, stall=True)


@pytest.mark.outcomes("crash")
def test_a_renderer_that_crashes_costs_the_browser_and_not_the_row(chromium: Path) -> None:
    async def crash() -> Observation:
        web = RawWeb({"a.test/": html("x" * 10_000 + "<img src=/more>"), "a.test/more": STALLED})
        async with web, Browser.launch(chromium, flags=web.browser_flags) as browser:
            going = asyncio.ensure_future(visit_page(browser, "a.test", budget_s=AMPLE_S))
            await web.has_sent("/more")
            page = browser._browser.contexts[0].pages[0]
            session = await page.context.new_cdp_session(page)
            crashing = asyncio.ensure_future(session.send("Page.crash"))
            with pytest.raises(BrowserDied) as died:
                await going
            await asyncio.gather(crashing, return_exceptions=True)
            return died.value.observation

    observation = asyncio.run(crash())
    assert observation.visit["outcome"] == "crash"
    assert observation.responses[0]["body_bytes"] > 10_000


def test_a_page_that_keeps_the_browser_from_answering_is_ended_before_its_log_is_awaited(
    chromium: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    end_pages, drained = Browser.end_pages, Browser.drain

    async def no_answer(*_: Any) -> bool:
        await asyncio.sleep(60)
        return False

    async def noted_end(browser: Browser) -> None:
        done.append("pages ended")
        await end_pages(browser)

    async def noted_drain(browser: Browser, *arguments: Any, **options: Any) -> int | None:
        done.append("log awaited")
        return await drained(browser, *arguments, **options)

    monkeypatch.setattr(Recorder, "_wait_for_quiet", no_answer)
    monkeypatch.setattr(Browser, "end_pages", noted_end)
    monkeypatch.setattr(Browser, "drain", noted_drain)
    with pytest.raises(BrowserDied) as died:
        run(chromium, RawWeb({"a.test/": html("hello")}), "a.test", late=["a.test"])
    of_https, *of_http = done  # https was refused
    assert (of_https, of_http) == ("log awaited", ["pages ended", "log awaited"])
    seen = died.value.observation
    assert ending(seen) == ("timeout", "budget", "the browser did not answer", "http", 200)
    assert seen.visit["coverage"] == 1


def kill_browser(browser: Browser) -> None:
    assert browser.pid is not None
    os.kill(browser.pid, signal.SIGKILL)


@pytest.mark.outcomes("crash")
def test_a_browser_that_is_killed_is_told_apart_and_keeps_what_had_arrived(chromium: Path) -> None:
    async def kill() -> Observation:
        web = RawWeb({"a.test/": STALLED})
        async with web, Browser.launch(chromium, flags=web.browser_flags) as browser:
            going = asyncio.ensure_future(visit_page(browser, "a.test", budget_s=AMPLE_S))
            await web.has_sent("/")
            kill_browser(browser)
            with pytest.raises(BrowserDied) as died:
                await going
            assert not browser.alive
            return died.value.observation

    assert asyncio.run(kill()).visit["outcome"] == "crash"


@pytest.mark.outcomes("crash")
def test_a_browser_that_dies_before_http_was_asked_says_nothing_of_the_site(
    chromium: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def kill() -> Observation:
        web = RawWeb({"a.test/": html("hello")})  # and https is refused
        async with web, Browser.launch(chromium, flags=web.browser_flags) as browser:
            close = Recorder._close

            async def kill_and_close(*arguments: Any) -> None:
                kill_browser(browser)
                await close(*arguments)

            monkeypatch.setattr(Recorder, "_close", kill_and_close)
            with pytest.raises(BrowserDied) as died:
                await visit_page(browser, "a.test", budget_s=AMPLE_S)
            return died.value.observation

    assert asyncio.run(kill()).visit["outcome"] == "crash"


def test_a_renderer_has_bounded_memory_and_can_be_killed_alone(chromium: Path) -> None:
    async def end() -> None:
        web = RawWeb({"a.test/": html("hello")})
        async with web, Browser.launch(chromium, flags=web.browser_flags) as browser:
            context = await browser.context()
            page = await context.new_page()
            crashed = asyncio.Event()
            page.on("crash", lambda _: crashed.set())
            await page.goto("http://a.test/")
            running = browser.list_renderers()
            assert running
            limits = [Path(f"/proc/{pid}/limits").read_text(encoding="ascii") for pid in running]
            bounds = {tuple(re.findall(r"Max data size +(\d+) +(\d+)", limit)) for limit in limits}
            assert bounds == {((str(DATA_LIMIT_BYTES), str(DATA_LIMIT_BYTES)),)}
            await browser.end_pages()
            async with asyncio.timeout(60):
                await crashed.wait()
            assert await browser.drain(context, timeout_s=20) is not None
            await context.close()

    asyncio.run(end())


def test_a_missing_browser_says_what_to_install(tmp_path: Path) -> None:
    async def launch() -> None:
        async with Browser.launch(tmp_path / "none"):
            pass

    with pytest.raises(BrowserMissing, match=r"install the Debian package chromium-headless-shell$"):
        asyncio.run(launch())


def test_a_browser_that_does_not_start_counts_as_missing(tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)

    async def launch() -> None:
        async with Browser.launch(program):
            pass

    with pytest.raises(BrowserMissing, match="does not start"):
        asyncio.run(launch())
