"""Each byte of a TLS connection counts as handshake, ticket, record or plaintext."""

import pytest

from crawler.netlog.hello import expansion
from crawler.netlog.tls import RECORDS_KEPT, RecordReader


def record(kind: int, length: int) -> bytes:
    return bytes([kind, 3, 3]) + length.to_bytes(2, "big") + bytes(length)


def tls13_flight() -> RecordReader:
    """A reader after ServerHello, ChangeCipherSpec and four encrypted messages, as Chromium logs them."""
    reader = RecordReader()
    reader.feed(record(22, 122) + record(20, 1) + b"".join(record(23, n + 17) for n in (19, 719, 78, 52)))
    reader.handshake_message(2, 122)
    for kind, size in ((8, 19), (11, 719), (15, 78), (20, 52)):
        reader.handshake_message(kind, size)
    return reader


FLIGHT = 127 + 6 + (19 + 719 + 78 + 52) + 4 * 22


def test_the_servers_flight_is_its_handshake_records() -> None:
    reader = tls13_flight()
    assert (reader.handshake_bytes, reader.ticket_bytes, reader.record_bytes) == (FLIGHT, 0, 0)


def test_records_that_are_padded_and_could_be_filled_leave_the_handshake_unknown() -> None:
    """Two messages of 31 and 32 bytes, each padded to 64, would also fill one record of 63."""
    reader = RecordReader()
    reader.feed(record(22, 122) + record(23, 64 + 16) + record(23, 64 + 16))
    for kind, size in ((2, 122), (8, 31), (20, 32)):
        reader.handshake_message(kind, size)
    assert not reader.is_handshake_known


def test_tickets_count_with_their_records_and_data_leaves_its_records_overhead() -> None:
    reader = tls13_flight()
    reader.feed(record(23, 282) + record(23, 282) + record(23, 51 + 17))
    reader.handshake_message(4, 265)
    reader.handshake_message(4, 265)
    reader.plaintext(51)
    reader.finish()
    assert (reader.handshake_bytes, reader.ticket_bytes, reader.record_bytes) == (FLIGHT, 2 * 287, 22)


def test_a_ticket_between_data_is_found_by_its_size() -> None:
    reader = tls13_flight()
    reader.feed(record(23, 1000 + 17) + record(23, 265 + 17))
    reader.handshake_message(4, 265)
    reader.plaintext(1000)
    reader.finish()
    assert (reader.ticket_bytes, reader.record_bytes) == (287, 22)


def test_one_record_may_hold_two_messages_or_two_tickets() -> None:
    reader = RecordReader()
    reader.feed(record(22, 122) + record(23, 19 + 719 + 78 + 52 + 17))
    for kind, size in ((2, 122), (8, 19), (11, 719), (15, 78), (20, 52)):
        reader.handshake_message(kind, size)
    reader.feed(record(23, 100 + 100 + 17))
    reader.handshake_message(4, 100)
    reader.handshake_message(4, 100)
    reader.feed(record(23, 10 + 17))
    reader.plaintext(10)
    reader.finish()
    assert reader.handshake_bytes == 127 + 868 + 22
    assert (reader.ticket_bytes, reader.record_bytes) == (222, 22)


def test_a_record_read_in_pieces_counts_once() -> None:
    reader = tls13_flight()
    whole = record(23, 16_384 + 17)
    for at in range(0, len(whole), 1000):
        reader.feed(whole[at : at + 1000])
    reader.plaintext(8192)
    reader.plaintext(8192)
    reader.finish()
    assert reader.record_bytes == 22


def test_an_alert_at_the_end_is_accounted_for_and_unread_data_is_not() -> None:
    reader = tls13_flight()
    reader.feed(record(23, 19) + record(23, 500))
    reader.finish()
    assert reader.record_bytes == 24


def test_the_records_of_tls_1_2_have_their_own_content_types() -> None:
    reader = RecordReader()
    reader.feed(record(22, 90) + record(22, 3000) + record(22, 300) + record(22, 4))
    for kind, size in ((2, 90), (11, 3000), (12, 300), (14, 4)):
        reader.handshake_message(kind, size)
    reader.feed(record(22, 170) + record(20, 1) + record(22, 40))
    reader.handshake_message(4, 170)
    reader.handshake_message(20, 16)
    reader.expansion = expansion("TLS 1.2", 0xC02F)
    reader.feed(record(23, 100 + 24) + record(21, 26))
    reader.plaintext(100)
    reader.finish()
    assert reader.handshake_bytes == 90 + 3000 + 300 + 4 + 170 + 1 + 40 + 7 * 5
    assert (reader.ticket_bytes, reader.record_bytes) == (0, 29 + 31)


@pytest.mark.parametrize("resumed", [False, True])
def test_a_hello_request_is_no_part_of_the_servers_flight(resumed: bool) -> None:
    reader = RecordReader()
    reader.feed(record(22, 78) + (b"" if resumed else record(22, 697) + record(22, 115) + record(22, 4)))
    for kind, size in ((2, 78), *(() if resumed else ((11, 697), (12, 115), (14, 4)))):
        reader.handshake_message(kind, size)
    reader.feed(record(22, 202) + record(20, 1) + record(22, 40))
    reader.handshake_message(4, 202)
    reader.handshake_message(20, 16)
    reader.expansion = expansion("TLS 1.2", 0xC02C)
    flight = reader.handshake_bytes
    reader.feed(record(23, 100 + 24) + record(22, 28))
    reader.plaintext(100)
    reader.handshake_message(0, 4)
    reader.finish()
    assert (reader.handshake_bytes, reader.ticket_bytes, reader.record_bytes) == (flight, 0, 29 + 33)


def test_padding_of_cbc_is_counted_in_sum() -> None:
    reader = RecordReader()
    reader.expansion = expansion("TLS 1.2", 0x002F)
    reader.feed(record(23, 148) + record(23, 1060))
    reader.plaintext(100)
    reader.plaintext(1000)
    reader.finish()
    assert reader.record_bytes == 148 + 1060 + 10 - 1100


@pytest.mark.parametrize(
    ("version", "cipher", "bytes_"),
    [("TLS 1.3", 0x1301, 17), ("TLS 1.2", 0xC02F, 24), ("TLS 1.2", 0xCCA8, 16), ("TLS 1.2", 0x002F, None)],
)
def test_a_record_exceeds_its_plaintext_by_its_suites_expansion(
    version: str, cipher: int, bytes_: int | None
) -> None:
    assert expansion(version, cipher) == bytes_


def test_an_unread_record_is_told_apart_from_an_alert() -> None:
    reader = tls13_flight()
    reader.feed(record(23, 51 + 17) + record(23, 2 + 17))
    reader.finish()
    assert (reader.record_bytes, reader.unread_bytes) == (24, 73)


def test_the_rest_of_a_half_read_record_is_unread() -> None:
    reader = tls13_flight()
    reader.feed(record(23, 1000 + 17) + record(23, 500 + 17) + record(23, 300 + 17)[:105])
    reader.plaintext(400)
    reader.finish()
    assert (reader.record_bytes, reader.unread_bytes) == (22, 600 + 522 + 105)


def test_the_tickets_of_tls_1_2_are_handshake_even_where_data_came_with_them() -> None:
    reader = RecordReader()
    reader.feed(record(22, 90) + record(22, 800) + record(22, 4))
    for kind, size in ((2, 90), (11, 800), (14, 4)):
        reader.handshake_message(kind, size)
    reader.expansion = (
        24  # Chromium sends its request before the server's Finished, and the answer comes with it
    )
    reader.feed(record(22, 202) + record(20, 1) + record(22, 40) + record(23, 100 + 24))
    for kind, size in ((4, 202), (20, 16)):
        reader.handshake_message(kind, size)
    reader.plaintext(100)
    reader.finish()
    assert reader.handshake_bytes == 95 + 805 + 9 + 207 + 6 + 45
    assert (reader.ticket_bytes, reader.record_bytes) == (0, 29)


def padded(length: int, count: int = 1) -> bytes:
    return record(23, length + 16) * count


def padded_flight(*more: bytes) -> RecordReader:
    """A reader after a flight of four messages in records of 1,024 bytes each,
    with `more` in the same read."""
    reader = RecordReader()
    reader.feed(record(22, 122) + record(20, 1) + padded(1024, 4) + b"".join(more))
    for kind, size in ((2, 122), (8, 19), (11, 719), (15, 78), (20, 52)):
        reader.handshake_message(kind, size)
    return reader


def test_padding_counts_with_the_record_that_it_fills() -> None:
    reader = padded_flight()
    reader.feed(padded(1024, 2))
    for _ in range(2):
        reader.handshake_message(4, 265)
    reader.feed(padded(1024) + padded(2048))
    reader.plaintext(1500)
    reader.finish()
    assert (reader.handshake_bytes, reader.is_handshake_known) == (127 + 6 + 4 * 1045, True)
    assert (reader.ticket_bytes, reader.are_tickets_known) == (2 * 1045, True)
    assert reader.record_bytes == 1045 + 2069 - 1500


def test_what_padding_hides_is_unknown_and_accounted_for() -> None:
    reader = padded_flight(padded(1024))
    reader.feed(padded(1024) + padded(2048))
    reader.handshake_message(4, 265)
    reader.plaintext(1500)
    reader.finish()
    assert not reader.is_handshake_known
    assert not reader.are_tickets_known
    assert reader.handshake_bytes + reader.ticket_bytes + reader.record_bytes == 133 + 6 * 1045 + 2069 - 1500


def test_padding_of_data_alone_shows_by_the_records_that_were_opened() -> None:
    reader = tls13_flight()
    for _ in range(3):
        reader.feed(padded(1024))
        reader.plaintext(100)
    reader.finish()
    assert (reader.record_bytes, reader.unread_bytes) == (3 * 945, 0)


def test_a_message_in_several_records_is_found_by_its_length() -> None:
    reader = tls13_flight()
    reader.feed(record(23, 1000 + 17) + record(23, 600 + 17))
    reader.feed(record(23, 600 + 17) + record(23, 50 + 17) + record(23, 401 + 17))
    reader.handshake_message(4, 1250)
    reader.plaintext(1401)
    reader.finish()
    assert (reader.ticket_bytes, reader.record_bytes) == (1250 + 3 * 22, 2 * 22)


def test_alerts_and_empty_records_are_records() -> None:
    reader = tls13_flight()
    reader.feed(record(23, 17) + record(23, 100 + 17) + record(23, 17))
    reader.plaintext(100)
    reader.feed(record(23, 19))
    reader.alert()
    reader.feed(b"")
    reader.finish()
    assert (reader.record_bytes, reader.unread_bytes) == (3 * 22 + 24, 0)


def test_a_flight_without_end_is_handshake() -> None:
    reader = RecordReader()
    reader.feed(record(22, 122) + record(20, 1) + record(23, 19 + 17) + record(23, 3000))
    reader.handshake_message(2, 122)
    reader.handshake_message(8, 19)
    reader.finish()
    assert (reader.handshake_bytes, reader.record_bytes, reader.unread_bytes) == (127 + 6 + 41 + 3005, 0, 0)


def test_the_first_records_with_application_data_have_their_sizes() -> None:
    reader = tls13_flight()
    reader.feed(record(23, 282) + b"".join(record(23, n + 17) for n in (51, 16_384, 100)) + record(23, 700))
    reader.handshake_message(4, 265)
    for size in (51, 16_384, 100):
        reader.plaintext(size)
    reader.finish()
    assert reader.first_record_bytes == [51 + 22, 16_384 + 22, 100 + 22]


def test_records_of_cbc_have_their_sizes_too() -> None:
    reader = RecordReader()
    reader.expansion = None
    reader.feed(record(23, 64) + record(23, 1024))
    reader.plaintext(1000)
    reader.finish()
    assert reader.first_record_bytes == [69, 1029]


def test_only_the_first_records_are_kept() -> None:
    reader = tls13_flight()
    for _ in range(3 * RECORDS_KEPT):
        reader.feed(record(23, 18))
        reader.plaintext(1)
    reader.finish()
    assert reader.first_record_bytes == [23] * RECORDS_KEPT


def test_a_closing_alert_is_no_application_data() -> None:
    reader = tls13_flight()
    reader.feed(record(23, 117))
    reader.plaintext(100)
    reader.feed(record(23, 19))
    reader.alert()
    reader.finish()
    assert reader.first_record_bytes == [122]


def test_first_records_that_padding_hides_are_unknown() -> None:
    reader = padded_flight(padded(1024))
    reader.plaintext(1000)
    reader.finish()
    assert reader.first_record_bytes == []


def test_a_closing_alert_is_no_application_data_even_if_it_is_padded() -> None:
    reader = padded_flight()
    reader.feed(padded(1024, 2))
    reader.plaintext(1000)
    reader.alert()
    reader.finish()
    assert reader.first_record_bytes == [1045]
