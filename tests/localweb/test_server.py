"""The local web's log against what an independent client received, and its hosts, ports and certificates."""

import asyncio
import re
import ssl

import pytest

from localweb import recipes
from localweb.modes import Mode
from localweb.recipes import Page
from localweb.server import LocalWeb
from localweb.serving.handler import ServedOrigin
from localweb.serving.listener import ListenerError
from tests.factories.limited import limited
from tests.localweb.conftest import Fetch, settled

SITES = (
    "www.mousel.lu,www.etat.lu,www.arcelormittal.com,www.calibreapp.com,www.wikipedia.org,www.linkedin.com"
)
"""Small pages that together have redirects, errors and all protocols."""

RECORD_BYTES = 22
"""Bytes that TLS 1.3 adds to a record: header, content type, tag (RFC 8446 §5.2)."""


@pytest.fixture(scope="module")
def pages() -> list[Page]:
    return recipes.choose(recipes.load_bundled(), SITES)


def by_origin(web: LocalWeb) -> dict[ServedOrigin, list[str]]:
    paths: dict[ServedOrigin, list[str]] = {}
    for answer in (answer for played in web.played for answer in played.answers):
        paths.setdefault(answer.origin, []).append(answer.path)
    return paths


@pytest.mark.parametrize("mode", list(Mode))
@limited
async def test_the_log_is_what_a_client_received(mode: Mode, pages: list[Page], fetch: Fetch) -> None:
    async with LocalWeb(pages, mode=mode) as web:
        seen = {
            origin: await fetch(origin, web.endpoint(origin), paths)
            for origin, paths in by_origin(web).items()
        }
        await settled(web)
    port_of = {connection.id: connection.client_port for connection in web.log.connections}

    sent = {
        (port_of[response.connection_id], response.scheme, response.host, response.path): (
            response.status,
            response.stream_id,
            response.wire_bytes,
            response.body_bytes,
            response.is_complete,
        )
        for response in web.log.responses
    }
    received = {
        (connection.client_port, *origin, path): (
            arrived.status,
            arrived.stream_id,
            arrived.wire_bytes,
            len(arrived.body),
            True,
        )
        for origin, connection in seen.items()
        for path, arrived in connection.arrived.items()
    }
    assert sent == received
    assert len(sent) == sum(len(page.objects) for page in pages)

    assert {
        connection.client_port: (
            connection.protocol,
            connection.sent_bytes,
            connection.plaintext_bytes,
            connection.tls_handshake_bytes,
            connection.tls_ticket_bytes,
            connection.frame_bytes,
        )
        for connection in web.log.connections
    } == {
        observation.client_port: (
            observation.protocol,
            observation.tcp_bytes,
            observation.plaintext_bytes,
            observation.handshake_bytes,
            observation.ticket_bytes,
            observation.frame_bytes,
        )
        for observation in seen.values()
    }


@pytest.mark.parametrize("mode", list(Mode))
@limited
async def test_the_logs_measures_add_up(mode: Mode, pages: list[Page], fetch: Fetch) -> None:
    async with LocalWeb(pages[:2], mode=mode) as web:
        for origin, paths in by_origin(web).items():
            await fetch(origin, web.endpoint(origin), paths)
        await settled(web)
    log = web.log
    for connection in log.connections:
        responses = [response for response in log.responses if response.connection_id == connection.id]
        wire = sum(response.wire_bytes for response in responses)
        assert wire + connection.frame_bytes == connection.plaintext_bytes
        assert [response.position for response in responses] == list(range(1, len(responses) + 1))
        if connection.tls_version is None:
            assert connection.sent_bytes == connection.plaintext_bytes
        else:
            assert connection.tls_version == "TLS 1.3"
            assert connection.sni == connection.host
            around = connection.tls_handshake_bytes + connection.tls_ticket_bytes + connection.plaintext_bytes
            records, rest = divmod(connection.sent_bytes - around, RECORD_BYTES)
            assert rest == 0
            assert records >= len(responses)
        for response in responses:
            assert response.first_byte_us is not None
            assert response.last_byte_us is not None
            assert response.header_bytes + response.body_bytes == response.wire_bytes
            assert (
                connection.opened_us
                <= response.request_received_us
                <= response.first_byte_us
                <= response.last_byte_us
            )


@limited
async def test_bodies_arrive_as_they_are_played(pages: list[Page], fetch: Fetch) -> None:
    async with LocalWeb(pages[:1], mode=Mode.H2) as web:
        for answer in web.played[0].answers:
            seen = await fetch(answer.origin, web.endpoint(answer.origin), [answer.path])
            arrived = seen.arrived[answer.path]
            assert arrived.body == answer.body
            assert dict(answer.headers).items() <= arrived.headers.items()


@limited
async def test_in_the_recorded_mode_each_origin_speaks_as_recorded(pages: list[Page], fetch: Fetch) -> None:
    async with LocalWeb(pages, mode=Mode.RECORDED) as web:
        spoken = {}
        for origin, paths in by_origin(web).items():
            seen = await fetch(origin, web.endpoint(origin), paths[:1])
            spoken[origin] = seen.protocol
    multiplexed = {
        ServedOrigin(thing.scheme, f"{thing.host}.test")
        for page in pages
        for thing in page.objects
        if thing.protocol in ("spdy", "h2", "h3")
    }
    assert {origin for origin, protocol in spoken.items() if protocol == "h2"} == multiplexed
    assert len({origin.scheme for origin in spoken}) == 2
    assert "http/1.1" in {spoken[origin] for origin in spoken if origin.scheme == "https"}


@limited
async def test_a_host_recorded_in_the_clear_refuses_https_at_once(pages: list[Page]) -> None:
    async with LocalWeb(pages, mode=Mode.RECORDED) as web:
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(*web.endpoint(ServedOrigin("https", "www.etat.lu.test")))


@limited
async def test_a_clear_site_whose_host_also_has_https_sends_https_back(
    pages: list[Page], fetch: Fetch
) -> None:
    async with LocalWeb(pages, mode=Mode.RECORDED) as web:
        secure = ServedOrigin("https", "www.arcelormittal.com.test")
        arrived = (await fetch(secure, web.endpoint(secure), ["/"])).arrived["/"]
        assert arrived.status == 302
        assert arrived.headers["location"] == "http://www.arcelormittal.com.test/"
        (entry,) = web.log.responses
        assert (entry.page, entry.index) == (None, None)


@limited
async def test_every_host_has_an_address_and_a_certificate_of_its_own(pages: list[Page]) -> None:
    async def certificate(origin: ServedOrigin, endpoint: tuple[str, int]) -> bytes:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        _, writer = await asyncio.open_connection(*endpoint, ssl=context, server_hostname=origin.host)
        certificate_der: bytes = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
        return certificate_der

    async with LocalWeb(pages, mode=Mode.H2) as web:
        origins = list(by_origin(web))
        endpoints = [web.endpoint(origin) for origin in origins]
        certificates = [await certificate(*pair) for pair in zip(origins, endpoints, strict=True)]
    assert len({address for address, _ in endpoints}) == len(origins) > 15
    assert all(address.startswith("127.20.") for address, _ in endpoints)
    assert len(set(certificates)) == len(origins)
    assert all(
        origin.host.encode() in certificate_bytes
        for origin, certificate_bytes in zip(origins, certificates, strict=True)
    )


@limited
async def test_the_browsers_flags_map_every_host_and_nothing_else(pages: list[Page]) -> None:
    async with LocalWeb(pages, mode=Mode.RECORDED) as web:
        rules, trust = web.browser_flags
        mapped = dict(re.findall(r"MAP (\S+:\d+) (127\.\S+?:\d+)(?=,)", rules))
        for origin in by_origin(web):
            port = {"http": 80, "https": 443}[origin.scheme]
            assert mapped[f"{origin.host}:{port}"] == "{}:{}".format(*web.endpoint(origin))
        assert len(mapped) == 2 * len({origin.host for origin in by_origin(web)})
        assert rules.endswith(",MAP * ~NOTFOUND")
        assert trust.startswith("--ignore-certificate-errors-spki-list=")
        assert web.sites[0] == "www.mousel.lu.test"


@limited
async def test_a_path_of_no_page_is_a_404_of_no_page(pages: list[Page], fetch: Fetch) -> None:
    async with LocalWeb(pages[:1], mode=Mode.H1) as web:
        origin = ServedOrigin("http", web.sites[0])
        assert (await fetch(origin, web.endpoint(origin), ["/nothing"])).arrived["/nothing"].status == 404
        assert web.log.responses[0].page is None


@limited
async def test_a_port_in_use_is_an_error_that_says_so(pages: list[Page]) -> None:
    async with LocalWeb(pages[:1], mode=Mode.H1) as web:
        origin = ServedOrigin("http", web.sites[0])
        address, port = web.endpoint(origin)
        (other,) = LocalWeb(pages[:1], mode=Mode.H1).listeners[origin]
        with pytest.raises(ListenerError, match=rf"cannot listen on {address}:{port} .*in use"):
            await other.listen(address, port)
        await other.close()


@limited
async def test_two_webs_play_side_by_side(pages: list[Page], fetch: Fetch) -> None:
    async with LocalWeb(pages, mode=Mode.H1) as clear_web, LocalWeb(pages, mode=Mode.H2) as other:
        for web in (clear_web, other):
            origin = web.played[0].answers[0].origin
            await fetch(origin, web.endpoint(origin), ["/"])
            assert len(web.log.responses) == 1


@limited
async def test_a_client_that_speaks_no_tls_or_no_http_is_dropped_and_logged(pages: list[Page]) -> None:
    for mode, scheme in ((Mode.H2, "https"), (Mode.H1, "http")):
        async with LocalWeb(pages[:1], mode=mode) as web:
            endpoint = web.endpoint(ServedOrigin(scheme, web.sites[0]))
            reader, writer = await asyncio.open_connection(*endpoint)
            writer.write(b"EHLO a.example\r\n\r\n")
            rest = await reader.read()
            writer.close()
            await settled(web)
            (connection,) = web.log.connections
            assert connection.error
            assert connection.sent_bytes == len(rest)
            assert web.log.responses == []
