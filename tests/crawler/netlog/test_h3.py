"""Every response and connection of a real browser over HTTP/3 is the server's, in spite of loss,
delay and duplicates."""

import asyncio
from typing import Any, TypeAlias

import pytest

from crawler.visit.attempt import Observation
from tests.crawler.netlog.h3_page import HOST, HOSTS
from tests.crawler.visiting import visit_hosts
from tests.zoo.serving.packets import CLEAN, Path
from tests.zoo.serving.server import ZooWeb

pytestmark = [pytest.mark.browser, pytest.mark.slow]

BUDGET_S = 20.0

LEFT = "/moved"
"""Path of a redirect: the browser stops reading at the header,
and lost bytes of the body are not sent again (RFC 9000 §3.5)."""


def load(path: Path) -> tuple[Observation, ZooWeb]:
    web = ZooWeb(HOSTS, protocol="h3", path=path)
    (observation,) = asyncio.run(visit_hosts(web, HOST, quic=True, budget_s=BUDGET_S))
    assert web.log.failures == []
    return observation, web


Responses: TypeAlias = dict[Any, tuple[Any, ...]]
"""Values by connection and stream."""


def responses_received(observation: Observation) -> Responses:
    ends = {row["id"]: (row["remote_address"], row["local_port"]) for row in observation.connections}
    return {
        (ends.get(row["connection_id"]), row["stream_id"]): (
            *(row["position"], row["protocol"], row["scheme"], row["method"], row["host"], row["path"]),
            *(row["status"], row["wire_bytes"], row["header_bytes"], row["body_bytes"]),
        )
        for row in observation.responses
    }


def responses_sent(web: ZooWeb) -> Responses:
    ends = {
        connection.id: (connection.server_address, connection.client_port)
        for connection in web.log.connections
    }
    return {
        (ends[response.connection_id], response.stream_id): (
            *(
                response.position,
                response.protocol,
                response.scheme,
                response.method,
                response.host,
                response.path,
            ),
            *(response.status, response.wire_bytes, response.header_bytes, response.body_bytes),
        )
        for response in web.log.responses
    }


def connections_received(observation: Observation) -> list[tuple[Any, ...]]:
    return sorted(
        (
            *(row["remote_address"], row["local_port"], row["host"], row["protocol"]),
            *(row["tls_version"], row["tls_resumed"], row["received_bytes"], row["decrypted_bytes"]),
            *(row["tls_handshake_bytes"], row["tls_ticket_bytes"], row["frame_bytes"]),
        )
        for row in observation.connections
    )


def connections_sent(web: ZooWeb) -> list[tuple[Any, ...]]:
    return sorted(
        (
            *(connection.server_address, connection.client_port, connection.host, connection.protocol),
            *(
                connection.tls_version,
                connection.tls_resumed,
                connection.sent_bytes,
                connection.plaintext_bytes,
            ),
            *(connection.tls_handshake_bytes, connection.tls_ticket_bytes, connection.frame_bytes),
        )
        for connection in web.log.connections
    )


def without_split(response: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*response[:-2], None, None)


def test_every_response_and_connection_is_what_the_server_sent() -> None:
    observation, web = load(CLEAN)
    assert observation.visit["outcome"] == "ok"
    received, sent = responses_received(observation), responses_sent(web)
    assert received.keys() == sent.keys()
    for key, response in received.items():
        # What still comes when the page has left: how much is known, but not what of it is body.
        is_left = response[5] == "/endless" and response[-1] is None
        assert response == (without_split(sent[key]) if is_left else sent[key])
    assert connections_received(observation) == connections_sent(web)
    assert (observation.visit["coverage"], observation.visit["decrypted_coverage"]) == (1.0, 1.0)
    assert {row["tls_resumed"] for row in observation.connections} == {False, True}


def test_lost_late_and_doubled_datagrams_count_once_in_a_response() -> None:
    observation, web = load(Path(lost=11, late=7, doubled=5, retry=True))
    received, sent = responses_received(observation), responses_sent(web)
    assert received.keys() == sent.keys()
    whole = [response for response in web.log.responses if response.is_complete and response.path != LEFT]
    ends = {
        connection.id: (connection.server_address, connection.client_port)
        for connection in web.log.connections
    }
    keys = {(ends[response.connection_id], response.stream_id) for response in whole}
    assert {key: received[key] for key in keys} == {key: sent[key] for key in keys}
    for key in sent.keys() - keys:
        assert received[key][-3] <= sent[key][-3]
    assert observation.visit["received_bytes"] == sum(
        connection.sent_bytes for connection in web.log.connections
    )
    assert observation.visit["coverage"] == 1.0
