"""Chromium, the server and a packet capture in a network namespace saw the same."""

from typing import Any

import pytest

from tests.zoo.serving.examples import PIECE, PIECES, TEXT
from tests.zoo.serving.namespace import in_namespace
from tests.zoo.serving.server import Spoken

pytestmark = [pytest.mark.browser]

LOADED = {
    "/plain": len(TEXT),
    "/hinted": len(TEXT),
    "/redirect": len(TEXT),
    "/in-pieces": 3 + len(TEXT) + 70_000,
    "/no-content": 0,
    "/ended-apart": 0,
    "/broken-off": -1,
    "/large": PIECES * len(PIECE),
    "/echo": 40_000,
    "/socket": 5,
}

WEBS: list[tuple[Spoken, dict[str, Any]]] = [
    ("h1", {}),
    ("h1tls", {"version": "TLS 1.2", "cbc": True, "tickets": False}),
    ("h2", {"intermediates": 4}),
]


@pytest.fixture(scope="module")
def loads() -> dict[str, dict[str, Any]]:
    result = in_namespace("tests.zoo.serving.loading:load", WEBS, timeout_s=240)
    return {connection["protocol"]: connection for connection in result}


@pytest.mark.parametrize("protocol", ["h1", "h1tls", "h2"])
def test_the_page_got_what_was_sent(protocol: str, loads: dict[str, dict[str, Any]]) -> None:
    assert loads[protocol]["loaded"] == LOADED


@pytest.mark.parametrize("protocol", ["h1", "h1tls", "h2"])
def test_the_capture_carried_what_the_server_counted(protocol: str, loads: dict[str, dict[str, Any]]) -> None:
    counted = {}
    for connection in loads[protocol]["connections"]:
        server = [connection["server_address"], connection["server_port"]]
        client = [connection["client_address"], connection["client_port"]]
        counted[*server, *client] = connection["sent_bytes"]
        counted[*client, *server] = connection["received_bytes"]
    carried = {tuple(ends): size for *ends, size in loads[protocol]["carried"]}
    assert carried == {ends: size for ends, size in counted.items() if size or ends in carried}


@pytest.mark.parametrize("protocol", ["h1", "h1tls", "h2"])
def test_a_connection_is_its_responses_and_frames(protocol: str, loads: dict[str, dict[str, Any]]) -> None:
    for connection in loads[protocol]["connections"]:
        on = [
            response
            for response in loads[protocol]["responses"]
            if response["connection_id"] == connection["id"]
        ]
        assert [response["position"] for response in on] == list(range(1, len(on) + 1))
        assert (
            sum(response["wire_bytes"] for response in on) + connection["frame_bytes"]
            == connection["plaintext_bytes"]
        )
        for response in on:
            times = [
                connection["opened_us"],
                *([connection["secured_us"]] if connection["secured_us"] else []),
            ]
            times += [response["request_received_us"], response["first_byte_us"], response["last_byte_us"]]
            assert times == sorted(times)


@pytest.mark.parametrize(("protocol", "accepted"), [("h1tls", (101, "GET")), ("h2", (200, "CONNECT"))])
def test_a_sockets_bytes_count_as_body(
    protocol: str, accepted: tuple[int, str], loads: dict[str, dict[str, Any]]
) -> None:
    (response,) = [response for response in loads[protocol]["responses"] if response["path"] == "/socket"]
    assert (response["scheme"], response["status"], response["method"]) == ("wss", *accepted)
    assert response["body_bytes"] == len(b"\x81\x05hello")


def test_a_connection_says_how_it_was_secured(loads: dict[str, dict[str, Any]]) -> None:
    assert {
        (connection["tls_version"], connection["tls_resumed"]) for connection in loads["h1"]["connections"]
    } == {(None, None)}
    assert {connection["tls_version"] for connection in loads["h1tls"]["connections"]} == {"TLS 1.2"}
    assert {connection["tls_version"] for connection in loads["h2"]["connections"]} == {"TLS 1.3"}


def flights(connections: list[dict[str, Any]], *, resumed: bool) -> list[int]:
    secured = [connection for connection in connections if connection["secured_us"]]
    return [
        connection["tls_handshake_bytes"] for connection in secured if connection["tls_resumed"] == resumed
    ]


def test_a_session_is_taken_up_without_certificates(loads: dict[str, dict[str, Any]]) -> None:
    assert min(flights(loads["h1tls"]["connections"], resumed=False)) > 1000
    assert 0 < max(flights(loads["h1tls"]["connections"], resumed=True)) < 500


def test_a_long_chain_makes_a_long_flight(loads: dict[str, dict[str, Any]]) -> None:
    assert min(flights(loads["h2"]["connections"], resumed=False)) > 8192


def test_tickets_are_counted_apart_in_tls_1_3_alone(loads: dict[str, dict[str, Any]]) -> None:
    assert {connection["tls_ticket_bytes"] for connection in loads["h1tls"]["connections"]} == {0}
    assert all(
        connection["tls_ticket_bytes"] > 200
        for connection in loads["h2"]["connections"]
        if connection["secured_us"]
    )


def test_what_a_client_left_behind_in_the_servers_kernel_is_known() -> None:
    for connection in in_namespace("tests.zoo.serving.loading:abandon", timeout_s=60):
        assert connection["unsent_bytes"] > 0
        assert connection["carried"] == connection["sent_bytes"] - connection["unsent_bytes"]
