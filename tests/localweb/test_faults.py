"""Faulty sites, over each protocol."""

import asyncio
import itertools
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from localweb import faults
from localweb.faults import DOCUMENT, Fault
from localweb.modes import Mode
from localweb.server import LocalWeb
from localweb.serving.handler import ServedOrigin
from tests.factories.limited import limited
from tests.localweb.conftest import Fetch, settled


async def broken_off(asking: Coroutine[Any, Any, Any], is_enough: Callable[[], bool]) -> None:
    """Break off a fetch a moment after the server has done enough; until then it must not end."""
    fetching = asyncio.ensure_future(asking)
    while not is_enough():
        assert not fetching.done()
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)
    assert not fetching.done()
    fetching.cancel()
    await asyncio.wait({fetching})


FAULTS = {f"{fault.value.replace('_', '-')}.test": fault for fault in Fault}


@asynccontextmanager
async def faulty(mode: Mode) -> AsyncIterator[LocalWeb]:
    async with LocalWeb([], mode=mode, faults=FAULTS) as web:
        assert web.sites == list(FAULTS)
        yield web


MODES = pytest.mark.parametrize(
    ("mode", "scheme"), [(Mode.H1, "http"), (Mode.H1TLS, "https"), (Mode.H2, "https")]
)


@MODES
@limited
async def test_errors_have_a_body_and_loops_have_no_end(mode: Mode, scheme: str, fetch: Fetch) -> None:
    async with faulty(mode) as web:
        for host, status in (("not-found.test", 404), ("server-error.test", 500)):
            origin = ServedOrigin(scheme, host)
            arrived = (await fetch(origin, web.endpoint(origin), ["/"])).arrived["/"]
            assert (arrived.status, arrived.body) == (status, DOCUMENT)
        loop = ServedOrigin(scheme, "redirect-loop.test")
        answers = (await fetch(loop, web.endpoint(loop), ["/", "/again"])).arrived.values()
        assert [answer.headers["location"] for answer in answers] == ["/again", "/"]


@MODES
@limited
async def test_a_reset_comes_in_the_middle_of_the_body(mode: Mode, scheme: str, fetch: Fetch) -> None:
    async with faulty(mode) as web:
        origin = ServedOrigin(scheme, "reset.test")
        with pytest.raises(ConnectionResetError):
            await fetch(origin, web.endpoint(origin), ["/"])
        await settled(web)
    (entry,) = web.log.responses
    assert not entry.is_complete
    assert 40_000 <= entry.body_bytes < 2000 * len(DOCUMENT)


@MODES
@pytest.mark.parametrize("host", ["no-answer.test", "silent.test"])
@limited
async def test_silence_goes_on(mode: Mode, scheme: str, host: str, fetch: Fetch) -> None:
    async with faulty(mode) as web:
        begun = web.log.connections if host == "silent.test" else web.log.responses
        origin = ServedOrigin(scheme, host)
        await broken_off(fetch(origin, web.endpoint(origin), ["/"]), lambda: bool(begun))
    (connection,) = web.log.connections
    if host == "silent.test":
        assert (connection.sent_bytes, web.log.responses) == (0, [])
    else:
        (entry,) = web.log.responses
        assert (entry.status, entry.wire_bytes, entry.first_byte_us) == (None, 0, None)


@MODES
@pytest.mark.parametrize(
    ("host", "least", "most"), [("never-ending.test", 100, 200_000), ("drip.test", 1, 8)]
)
@limited
async def test_slow_bodies_keep_coming(
    mode: Mode, scheme: str, host: str, least: int, most: int, fetch: Fetch
) -> None:
    async with faulty(mode) as web:
        responses, origin = web.log.responses, ServedOrigin(scheme, host)
        await broken_off(
            fetch(origin, web.endpoint(origin), ["/"]),
            lambda: any(entry.body_bytes >= least for entry in responses),
        )
    (entry,) = responses
    assert least <= entry.body_bytes <= most
    assert not entry.is_complete


@pytest.mark.parametrize("mode", [Mode.H1, Mode.RECORDED])
@limited
async def test_faults_of_tls_are_over_tls_in_every_mode(mode: Mode, fetch: Fetch) -> None:
    async with faulty(mode) as web:
        failing = ServedOrigin("https", "handshake-failure.test")
        with pytest.raises(ssl.SSLError, match=r"(?i)handshake.failure"):
            await fetch(failing, web.endpoint(failing), ["/"])
        bad = ServedOrigin("https", "bad-certificate.test")
        good = web.browser_flags[1].partition("=")[2]
        assert (await fetch(bad, web.endpoint(bad), ["/"])).arrived["/"].status == 200
        assert web._impostor.spki_hash != good


@limited
async def test_a_refusing_host_refuses(fetch: Fetch) -> None:
    async with faulty(Mode.RECORDED) as web:
        for scheme in ("http", "https"):
            origin = ServedOrigin(scheme, "refused.test")
            with pytest.raises(ConnectionRefusedError):
                await fetch(origin, web.endpoint(origin), ["/"])


def sent_by(pieces: list[tuple[float, bytes]], now_s: float) -> bytes:
    times = itertools.accumulate(pause_s for pause_s, _ in pieces)
    return b"".join(piece for at_s, (_, piece) in zip(times, pieces, strict=True) if at_s <= now_s)


def test_a_drip_keeps_to_its_rate() -> None:
    pieces = list(faults.dripping_pieces())

    assert len(sent_by(pieces, 0.0)) == 1
    assert len(sent_by(pieces, 2.0)) == 1 + 2 * faults.DRIP_BYTES_PER_SECOND
    assert sent_by(pieces, 60.0) == DOCUMENT


def test_a_document_without_end_grows_by_megabytes_a_minute() -> None:
    pieces = list(itertools.islice(faults.endless_pieces(), 2000))

    assert sent_by(pieces, 0.0) == DOCUMENT
    assert len(sent_by(pieces, 60.0)) > 5_000_000


@limited
async def test_a_document_without_end_states_no_length(fetch: Fetch) -> None:
    async with faulty(Mode.H1) as web:
        reader, writer = await asyncio.open_connection(
            *web.endpoint(ServedOrigin("http", "never-ending.test"))
        )
        writer.write(b"GET / HTTP/1.1\r\nHost: never-ending.test\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        writer.close()
    (entry,) = web.log.responses
    assert b"content-length" not in head.lower()
    assert not entry.is_complete
