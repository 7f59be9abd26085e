"""Responses assembled from recorded logs are those of the server,
also from damaged logs as far as they go."""

import json
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.netlog.assembler import Traffic, assemble
from crawler.netlog.event import Event
from crawler.visit.row_values import Row
from tests.crawler.netlog.logs import DAMAGE, LOGS, NAMES, assemble_rows, damage, recorded

OVER_TCP = [name for name in NAMES if name != "h3"]
"""Logs whose responses a server over TCP sent; test_quic has HTTP/3."""

UNREAD = "/undrained-redirect/1"
"""Path of a response whose body the browser does not read to the end."""


def sent(name: str) -> list[tuple[str, str, str, int, int]]:
    entries = (tuple(entry) for entry in json.loads((LOGS / f"{name}.sent.json").read_text()))
    return sorted(entry for entry in entries if entry[2] != UNREAD)


def received(traffic: Traffic) -> list[tuple[str, str, str, int, int | None]]:
    urls = [(exchange, urlsplit(exchange.url)) for exchange in traffic.exchanges if exchange.sizes()[0]]
    return sorted(
        (exchange.method, url.netloc, url.path, *exchange.sizes())
        for exchange, url in urls
        if url.path != UNREAD
    )


@pytest.mark.parametrize("name", OVER_TCP)
def test_every_response_of_a_recorded_log_is_what_the_server_sent(name: str) -> None:
    assert received(assemble(recorded(name))) == sent(name)
    rows = assemble_rows(recorded(name))
    assert rows.decrypted_coverage == 1.0
    assert rows.coverage is not None
    assert rows.coverage >= 0.999  # H2: the SETTINGS of a connection that lost a race are never read


@pytest.mark.parametrize("name", OVER_TCP)
def test_the_first_response_of_a_connection_begins_behind_its_handshake_and_tickets(name: str) -> None:
    for transport in assemble(recorded(name)).transports:
        if not any(exchange.sizes()[0] for exchange in transport.exchanges):
            assert transport.answer_after is None
            continue
        assert transport.answer_after is not None
        least = transport.handshake_bytes or 0
        most = (
            least + (transport.ticket_bytes or 0) + (1000 if transport.protocol != "http/1.1" else 0)
        )  # frames and streams of its own
        assert least <= transport.answer_after <= most


def made_of(name: str) -> list[Row]:
    return assemble_rows(recorded(name)).responses


def test_a_response_from_the_cache_is_marked() -> None:
    seen = [row for row in made_of("h1-repeats") if row["path"] == "/disk-cache/x"]
    assert [(row["from_cache"], row["wire_bytes_unknown"]) for row in seen] == [
        (False, None),
        (True, "from_cache"),
    ]


def test_a_request_cancelled_before_its_response_is_not_from_the_cache() -> None:
    (row,) = [row for row in made_of("h1-endings") if row["path"] == "/aborted-unanswered/x"]
    assert (row["from_cache"], row["wire_bytes_unknown"], row["status"]) == (False, "no_response", None)


def test_a_redirect_is_two_responses_and_names_the_one_before() -> None:
    by_path = {row["path"]: row for row in made_of("h1-repeats")}
    for number in (2, 3, 4):
        here, before = by_path[f"/chain/{number}"], by_path[f"/chain/{number - 1}"]
        assert here["redirected_from_id"] == before["id"]
        assert before["status"] in (302, 307, 303)


def test_a_login_is_a_response_for_each_time_that_the_request_was_sent() -> None:
    log = made_of("h1-login")
    for name, answers in {
        "basic-login": [(401, 3096, 3000), (200, 17_267, 17_200)],
        "digest-login": [(401, 2138, 2000), (200, 17_267, 17_200)],
        "refused-login": [(401, 17_299, 17_200), (401, 17_299, 17_200)],
    }.items():
        rows_ = [row for row in log if row["path"] == f"/{name}/x"]
        assert [(row["status"], row["wire_bytes"], row["decoded_bytes"]) for row in rows_] == answers
        assert len({row["connection_id"] for row in rows_}) == 1
    for number in {row["connection_id"] for row in log}:
        positions = [row["position"] for row in log if row["connection_id"] == number]
        assert sorted(positions) == [*range(1, len(positions) + 1)]


def test_a_row_that_the_browsers_own_count_contradicts_lowers_the_coverage() -> None:
    """Without the second request of each login, its response is counted as bytes after the first."""
    log, seen = [], set[int]()
    for event in recorded("h1-login"):
        is_sent = event.name == "HTTP_TRANSACTION_SEND_REQUEST_HEADERS"
        if not is_sent or event.source not in seen:
            log.append(event)
        seen |= {event.source} if is_sent else set()
    rows = assemble_rows(log)
    assert rows.decrypted_coverage is not None
    assert rows.coverage == rows.decrypted_coverage < 0.7


def test_a_response_that_broke_off_has_its_error() -> None:
    by_path = {row["path"]: row for row in made_of("h1-endings")}
    assert by_path["/reset/x"]["failure"] == "-101"
    assert by_path["/short/x"]["failure"] == "-354"


def test_a_response_that_the_browser_refused_has_its_status() -> None:
    by_path = {row["path"]: row for row in made_of("h1-bodies")}
    assert (by_path["/br/x"]["failure"], by_path["/br/x"]["status"]) == ("-330", 200)


def test_a_cancelled_request_has_the_status_that_had_arrived() -> None:
    headers = ("HTTP_TRANSACTION_READ_RESPONSE_HEADERS", "HTTP2_SESSION_RECV_HEADERS")
    log = [event for event in recorded("h2-bodies") if event.name not in headers]
    assert {exchange.status for exchange in assemble(log).exchanges} == {None}
    for came, status in (("103",), None), (("103", "404"), 404):
        with_sections = []
        for event in log:
            with_sections.append(event)
            if event.name == "HTTP2_SESSION_SEND_HEADERS":
                for section in came:
                    params = {"stream_id": event.params["stream_id"], "headers": [f":status: {section}"]}
                    with_sections.append(
                        Event("HTTP2_SESSION_RECV_HEADERS", "NONE", event.source, event.time_ms, params)
                    )
        answered = [
            exchange for exchange in assemble(with_sections).exchanges if exchange.stream_id is not None
        ]
        assert {exchange.status for exchange in answered} == {status}


def test_a_request_that_was_sent_again_has_the_times_of_the_second_connection() -> None:
    for row in made_of("h1tls-repeats"):
        if row["path"] == "/retried/x":
            assert row["request_sent_us"] <= row["first_byte_us"] <= row["last_byte_us"]


def test_a_stream_that_names_its_request_and_no_job_is_an_extended_connect() -> None:
    log = list(recorded("h2-bodies"))
    requests = {
        event.dependency: event.source for event in log if event.name == "HTTP_STREAM_REQUEST_BOUND_TO_JOB"
    }
    for at, event in enumerate(log):
        if event.name == "HTTP2_SESSION_SEND_HEADERS":
            by_request = {"source_dependency": {"id": requests[event.dependency]}}
            log[at] = event._replace(params={**event.params, **by_request})
    assert received(assemble(log)) == sorted(("CONNECT", *rest) for _, *rest in sent("h2-bodies"))


@pytest.mark.parametrize("name", ["h1-bodies", "h2-bodies"])
def test_a_body_has_its_size_before_compression_too(name: str) -> None:
    by_path = {row["path"]: row for row in made_of(name)}
    coded = by_path["/gzip/x"]
    assert coded["decoded_bytes"] == by_path["/404/x"]["body_bytes"] > coded["body_bytes"]


def test_a_recording_that_stops_keeps_what_had_arrived() -> None:
    log = recorded("h1-repeats")
    middle = (log[0].time_ms + log[-1].time_ms) // 2
    early = assemble(log, stop_ms=log[0].time_ms - 1)
    assert (early.transports, early.exchanges) == ([], [])
    before = [event for event in log if event.time_ms <= middle]
    assert received(assemble(log, stop_ms=middle)) == received(assemble(before))


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(NAMES), st.data())
def test_a_log_that_is_cut_doubled_shuffled_or_thinned_raises_nothing_and_adds_no_bytes(
    name: str, data: st.DataObject
) -> None:
    rows = assemble_rows(damage(recorded(name), data, DAMAGE))
    for row in rows.responses:
        assert (row["wire_bytes"] is None) == (row["wire_bytes_unknown"] is not None)
        assert row["wire_bytes"] is None or row["wire_bytes"] > 0
        assert row["body_bytes"] is None or 0 <= row["body_bytes"] <= row["wire_bytes"]
    for row in rows.connections:
        assert min(row["tls_handshake_bytes"] or 0, row["tls_ticket_bytes"] or 0, row["frame_bytes"]) >= 0


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(NAMES), st.data())
def test_a_piece_of_a_log_accounts_for_no_more_than_was_received(name: str, data: st.DataObject) -> None:
    # Only where every event came once: plaintext that is logged twice is more than what was received.
    rows = assemble_rows(damage(recorded(name), data, ["cut"]))
    for number, row in enumerate(rows.connections, 1):
        on = [
            response["wire_bytes"] or 0 for response in rows.responses if response["connection_id"] == number
        ]
        parts = [row["tls_handshake_bytes"] or 0, row["tls_ticket_bytes"] or 0, row["frame_bytes"]]
        assert min(*parts, row["decrypted_bytes"]) >= 0
        assert sum(on) + row["frame_bytes"] <= row["decrypted_bytes"] <= row["received_bytes"]
        assert parts[0] + parts[1] <= row["received_bytes"]


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["h2", "h3"]), st.integers(0, 10**6))
def test_a_log_cut_off_anywhere_has_no_more_than_the_whole(name: str, cut: int) -> None:
    log = recorded(name)
    whole = {(row["connection_id"], row["stream_id"]): row for row in assemble_rows(log).responses}
    for row in assemble_rows(log[: cut % len(log)]).responses:
        if row["stream_id"] is not None:
            last = whole[row["connection_id"], row["stream_id"]]
            assert (row["wire_bytes"] or 0) <= (last["wire_bytes"] or 0)
            if name == "h2" or last["body_bytes"] is not None:  # of HTTP/3 it may be unknown in the whole
                assert (row["body_bytes"] or 0) <= (last["body_bytes"] or 0)
