import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from releases.first_flights import FlightConnection, FlightResponse, first_flight, iw_limited

MSS = 1448
RTT_MS = 50


def clear(*, received_bytes: int) -> FlightConnection:
    """HTTP/1.1 in the clear, opened at 0 and established an RTT later."""
    return FlightConnection(
        id=1,
        protocol="http/1.1",
        tls_version=None,
        received_bytes=received_bytes,
        decrypted_bytes=received_bytes,
        tls_handshake_bytes=None,
        tls_ticket_bytes=None,
        frame_bytes=0,
        opened_us=0,
        connected_us=RTT_MS * 1000,
        secured_us=None,
    )


def h2(
    *,
    decrypted_bytes: int,
    record_bytes: int = 0,
    handshake: int | None = 3000,
    tickets: int = 500,
    frames: int = 60,
) -> FlightConnection:
    """HTTP/2 over TLS, secured two RTTs after the first SYN."""
    return FlightConnection(
        id=1,
        protocol="h2",
        tls_version="TLS 1.3",
        received_bytes=decrypted_bytes + record_bytes + (handshake or 0) + tickets,
        decrypted_bytes=decrypted_bytes,
        tls_handshake_bytes=handshake,
        tls_ticket_bytes=tickets,
        frame_bytes=frames,
        opened_us=0,
        connected_us=RTT_MS * 1000,
        secured_us=2 * RTT_MS * 1000,
    )


_ids = itertools.count(1)


def response(
    size: int | None, *, sent: float, first: float | None, last: float | None = None
) -> FlightResponse:
    """Times in milliseconds."""
    last = first if last is None else last
    return FlightResponse(
        next(_ids),
        size,
        round(sent * 1000),
        None if first is None else round(first * 1000),
        None if last is None else round(last * 1000),
    )


def size(connection: FlightConnection, *responses: FlightResponse) -> int | None:
    flight = first_flight(connection, responses)
    assert flight is not None
    return flight.size_bytes


def limited(connection: FlightConnection, *responses: FlightResponse, iw: int = 10) -> list[bool | None]:
    answers = iw_limited(connection, responses, iw=iw, mss=MSS)
    return [answers[response.id] for response in responses if response.id in answers]


def test_the_first_flight_of_clear_http_1_is_its_first_response() -> None:
    assert (
        size(
            clear(received_bytes=9000),
            response(4000, sent=50, first=100),
            response(5000, sent=101, first=150),
        )
        == 4000
    )


def test_a_leading_redirect_is_the_first_flight_and_leaves_the_window_initial() -> None:
    page = [response(300, sent=50, first=100), response(90_000, sent=100, first=150, last=400)]
    assert size(clear(received_bytes=90_300), *page) == 300
    assert limited(clear(received_bytes=90_300), *page) == [True, True]


def test_parallel_h2_streams_share_the_first_flight() -> None:
    streams = [
        response(1000, sent=100, first=150),
        response(2000, sent=120, first=170),
        response(4000, sent=149.9, first=200),
        response(
            8000, sent=150, first=200
        ),  # asked when the first byte had come: its acknowledgement is ahead
    ]
    connection = h2(decrypted_bytes=15_060, handshake=0, tickets=0)
    assert size(connection, *streams) == 7060
    flight = first_flight(connection, streams)
    assert flight is not None
    assert flight.response_ids == tuple(stream.id for stream in streams[:3])


def test_the_first_response_to_arrive_starts_the_flight_in_any_order_of_requests() -> None:
    streams = [response(1000, sent=100, first=300), response(2000, sent=150, first=200)]
    assert size(h2(decrypted_bytes=3060, handshake=0, tickets=0), *streams) == 3060


def test_tls_flight_tickets_frames_and_records_are_part_of_the_first_flight() -> None:
    single = response(9940, sent=100, first=150)
    connection = h2(decrypted_bytes=10_000, record_bytes=200, handshake=3000, tickets=500, frames=60)
    assert size(connection, single) == connection.received_bytes == 13_700
    flight = first_flight(connection, [single])
    assert flight is not None
    assert (flight.tls_bytes, flight.answer_bytes) == (3000, 10_700)


def test_tls_records_are_attributed_by_size() -> None:
    streams = [response(5000, sent=100, first=150), response(5000, sent=200, first=250)]
    connection = h2(decrypted_bytes=10_000, record_bytes=220, handshake=0, tickets=0, frames=0)
    assert size(connection, *streams) == 5110


def test_a_flight_with_an_unknown_part_is_unknown_and_not_smaller() -> None:
    asked_and_never_answered = response(None, sent=110, first=None)
    assert (
        size(h2(decrypted_bytes=5060), response(5000, sent=100, first=150), asked_and_never_answered) is None
    )
    assert size(h2(decrypted_bytes=5060, handshake=None), response(5000, sent=100, first=150)) is None


def test_unknown_sizes_after_the_first_flight_do_not_affect_it() -> None:
    later = response(None, sent=160, first=None)
    connection = h2(decrypted_bytes=5060, handshake=0, tickets=0)
    assert size(connection, response(5000, sent=100, first=150), later) == 5060


def test_a_connection_without_a_response_has_no_first_flight() -> None:
    assert first_flight(clear(received_bytes=0), [response(None, sent=50, first=None)]) is None
    assert first_flight(h2(decrypted_bytes=60), []) is None


@pytest.mark.parametrize(
    ("segments", "still_initial"),
    [(1, True), (5, True), (6, False), (10, False), (11, False)],
)
def test_more_than_half_a_window_of_data_opens_it(segments: int, still_initial: bool) -> None:
    page = [response(segments * MSS, sent=50, first=100), response(2000, sent=110, first=160)]
    assert limited(clear(received_bytes=0), *page) == [True, still_initial]


def test_small_responses_one_after_the_other_never_open_the_window() -> None:
    page = [response(5 * MSS, sent=50 + 60 * n, first=100 + 60 * n) for n in range(50)]
    assert limited(clear(received_bytes=0), *page) == [True] * 50


def test_parallel_streams_open_the_window_together() -> None:
    streams = [response(2 * MSS, sent=100, first=150 + n) for n in range(4)]
    after = response(2 * MSS, sent=160, first=210)
    connection = h2(decrypted_bytes=5 * 2 * MSS, tickets=0, frames=0)
    assert limited(connection, *streams, after) == [True, True, True, True, False]


def test_a_stream_that_begins_a_round_trip_later_meets_the_window_that_the_others_opened() -> None:
    streams = [
        response(8 * MSS, sent=100, first=150),
        response(MSS, sent=101, first=199),
        response(MSS, sent=101, first=200),
    ]
    assert limited(h2(decrypted_bytes=10 * MSS), *streams) == [True, True, False]


def test_tickets_and_frames_count_towards_the_window() -> None:
    page = [response(5 * MSS, sent=100, first=150), response(MSS, sent=160, first=210)]
    assert limited(h2(decrypted_bytes=6 * MSS, tickets=0, frames=0), *page) == [True, True]
    assert limited(h2(decrypted_bytes=6 * MSS, tickets=500, frames=0), *page) == [True, False]


@pytest.mark.parametrize(("handshake", "initial"), [(5 * MSS, True), (5 * MSS + 1, False)])
def test_a_long_tls_flight_opens_the_window_before_the_first_response(handshake: int, initial: bool) -> None:
    assert limited(h2(decrypted_bytes=MSS, handshake=handshake), response(MSS, sent=100, first=150)) == [
        initial
    ]


@pytest.mark.parametrize(
    ("idle_ms", "initial"),
    # RTO 250 ms. 10 + 10 segments: 20; more than one RTO idle halves it once, which is 10 again.
    [(250, False), (251, True)],
)
def test_idleness_of_more_than_a_timeout_halves_the_window_back(idle_ms: int, initial: bool) -> None:
    page = [
        response(10 * MSS, sent=50, first=100, last=110),
        response(MSS, sent=110 + idle_ms - 50, first=110 + idle_ms),
    ]
    assert limited(clear(received_bytes=0), *page) == [True, initial]


@pytest.mark.parametrize(
    ("idle_ms", "initial"),
    # 10 + 90 segments: 100, then 50 25 12 10 by the RTO.
    [(251, False), (501, False), (751, False), (1000, False), (1001, True), (60_000, True)],
)
def test_a_large_window_takes_several_timeouts_to_become_initial_again(idle_ms: int, initial: bool) -> None:
    page = [
        response(90 * MSS, sent=50, first=100, last=500),
        response(MSS, sent=500 + idle_ms - 50, first=500 + idle_ms),
    ]
    assert limited(clear(received_bytes=0), *page) == [True, initial]


def test_a_connection_that_was_idle_before_its_first_response_is_initial_again() -> None:
    assert limited(h2(decrypted_bytes=MSS, handshake=8 * MSS), response(MSS, sent=100, first=350)) == [False]
    assert limited(h2(decrypted_bytes=MSS, handshake=8 * MSS), response(MSS, sent=100, first=351)) == [True]


def test_a_smaller_window_opens_sooner() -> None:
    page = [response(2 * MSS, sent=50, first=100), response(MSS, sent=110, first=160)]
    assert limited(clear(received_bytes=0), *page, iw=3) == [True, False]
    assert limited(clear(received_bytes=0), *page, iw=4) == [True, True]


def test_a_request_without_a_response_does_not_grow_the_window_and_is_left_out() -> None:
    page = [response(None, sent=50, first=None), response(MSS, sent=60, first=100)]
    assert limited(clear(received_bytes=0), *page) == [True]


def test_after_an_unknown_amount_the_window_is_unknown() -> None:
    page = [response(None, sent=50, first=100), response(MSS, sent=110, first=160)]
    assert limited(clear(received_bytes=0), *page) == [True, None]
    assert limited(h2(decrypted_bytes=MSS, handshake=None), response(MSS, sent=100, first=150)) == [None]


def test_without_its_time_a_response_leaves_the_whole_connection_unknown() -> None:
    page = [response(MSS, sent=50, first=None), response(MSS, sent=110, first=160)]
    assert limited(clear(received_bytes=0), *page) == [None, None]


sizes = st.integers(0, 200 * MSS)
times = st.integers(100, 5000)


@given(st.lists(st.tuples(sizes, times, times, times), min_size=1, max_size=12))
def test_the_first_to_begin_is_limited_and_no_flight_exceeds_the_connection(
    rows: list[tuple[int, int, int, int]],
) -> None:
    page = [
        response(size, sent=sent, first=sent + wait, last=sent + wait + longer)
        for size, sent, wait, longer in rows
    ]
    connection = h2(decrypted_bytes=sum(response.wire_bytes or 0 for response in page) + 60, record_bytes=40)
    begun = min(page, key=lambda response: (response.first_byte_us or 0, response.id))
    assert iw_limited(connection, page, iw=10)[begun.id] is True
    flight = size(connection, *page)
    assert flight is not None
    assert (begun.wire_bytes or 0) <= flight <= (connection.received_bytes or 0)
