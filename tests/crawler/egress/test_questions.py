"""The DNS relay passes on one question and its answer, and no other byte."""

import struct

import dns.edns
import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
import dns.tsig
import dns.update
import pytest
from dns.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.egress.questions import (
    DATAGRAM_BYTES,
    QUESTION_BYTES,
    encode_datagram,
    parse_question,
    rebuild_answer,
    rebuild_question,
)

NAME = "Www.Example.test."
PRIVATE_OPTION = dns.edns.OptionType.make(65001)


def asked(kind: str = "A", **options: object) -> Message:
    return dns.message.make_query(NAME, kind, **options)  # type: ignore[arg-type]


def answered(ours: Message, *records: str) -> Message:
    response = dns.message.make_response(ours)
    for record in records:
        kind, _, value = record.partition(" ")
        response.answer.append(dns.rrset.from_text(NAME, 300, "IN", kind, value))
    return response


def changed(message: Message, flags: int) -> bytes:
    wire = message.to_wire()
    return wire[:2] + struct.pack("!H", flags) + wire[4:]


def two_questions() -> bytes:
    wire = asked().to_wire()
    return wire[:4] + b"\0\2" + wire[6:] + wire[12:]


def signed() -> Message:
    question = asked()
    question.use_tsig(dns.tsig.Key("key.test.", b"0" * 32))
    return question


def with_records() -> Message:
    question = asked()
    question.additional.append(dns.rrset.from_text("x.test.", 1, "IN", "TXT", "smuggled"))
    return question


GARBAGE = {
    "nothing": b"",
    "text": b"GET / HTTP/1.1\r\nHost: 127.0.0.53\r\n\r\n",
    "an answer": answered(asked(), "A 9.9.9.9").to_wire(),
    "a transfer of a zone": asked("AXFR").to_wire(),
    "a part of one": asked("IXFR").to_wire(),
    "a question for anything": asked("ANY").to_wire(),
    "a key exchange": asked("TKEY").to_wire(),
    "an update": dns.update.UpdateMessage("example.test.").to_wire(),
    "a notification": changed(asked(), 4 << 11),
    "a status request": changed(asked(), 2 << 11),
    "two questions": two_questions(),
    "no question": asked().to_wire()[:4] + b"\0" * 8,
    "another class": asked(rdclass="CH").to_wire(),
    "bytes behind a question": asked().to_wire() + b"smuggled",
    "records beside a question": with_records().to_wire(),
    "a signature": signed().to_wire(),
    "more bytes than a question has": asked(
        options=[dns.edns.GenericOption(PRIVATE_OPTION, b"x" * QUESTION_BYTES)]
    ).to_wire(),
}


@pytest.mark.parametrize("wire", GARBAGE.values(), ids=GARBAGE)
def test_a_message_that_is_not_one_question_is_dropped(wire: bytes) -> None:
    assert parse_question(wire) is None


@settings(deadline=None)
@given(st.binary(max_size=QUESTION_BYTES))
def test_any_bytes_are_a_question_or_are_dropped(wire: bytes) -> None:
    question = parse_question(wire)
    assert question is None or len(question.question) == 1


@settings(deadline=None)
@given(st.binary(max_size=60), st.integers(0, 100))
def test_a_question_with_any_bytes_in_it_is_one_or_is_dropped(noise: bytes, place: int) -> None:
    wire = asked("HTTPS", want_dnssec=True).to_wire()
    question = parse_question(wire[:place] + noise + wire[place + len(noise) :])
    assert question is None or rebuild_question(question).to_wire()


@pytest.mark.parametrize("kind", ["A", "AAAA", "HTTPS", "CNAME", "TXT", "PTR", "TYPE65280"])
def test_a_question_is_asked_as_it_was_in_a_message_of_our_own(kind: str) -> None:
    theirs = asked(kind, id=7, want_dnssec=True, flags=dns.flags.RD | dns.flags.CD)
    theirs.use_edns(0, dns.flags.DO, 4096, options=[dns.edns.GenericOption(PRIVATE_OPTION, b"smuggled")])
    question = parse_question(theirs.to_wire())
    assert question is not None
    ours = dns.message.from_wire(rebuild_question(question).to_wire())
    assert str(ours.question[0].name) == NAME
    assert ours.question == theirs.question
    assert ours.flags == theirs.flags
    assert (ours.edns, ours.ednsflags, ours.options) == (0, dns.flags.DO, ())
    assert b"smuggled" not in rebuild_question(question).to_wire()


def test_a_stub_without_edns_is_asked_for_without_it() -> None:
    question = parse_question(asked(use_edns=False).to_wire())
    assert question is not None
    assert rebuild_question(question).edns == -1


def test_a_passed_on_question_has_an_id_unknown_to_the_stub() -> None:
    question = asked(id=7)
    assert len({rebuild_question(question).id for _ in range(50)}) > 40


def test_an_answer_comes_back_with_its_records_in_their_order() -> None:
    theirs = asked("AAAA", id=7)
    ours = rebuild_question(theirs)
    records = [
        "CNAME z.test.",
        "AAAA 2001:db8::9",
        "AAAA 2001:db8::1",
        'HTTPS 1 . alpn="h3,h2"',
        "TYPE65280 \\# 2 0102",
    ]
    answer = rebuild_answer(answered(ours, *records).to_wire(), ours, theirs)
    assert answer is not None
    back = dns.message.from_wire(answer.to_wire(), one_rr_per_rrset=True)
    assert back.id == 7
    assert theirs.is_response(back)
    assert [f"{dns.rdatatype.to_text(record.rdtype)} {record[0]}" for record in back.answer] == records


@pytest.mark.parametrize("code", ["NXDOMAIN", "SERVFAIL", "REFUSED", "BADVERS"])
def test_an_answer_keeps_its_code(code: str) -> None:
    theirs = asked(use_edns=0)
    ours = rebuild_question(theirs)
    response = dns.message.make_response(ours)
    response.set_rcode(dns.rcode.from_text(code))
    answer = rebuild_answer(response.to_wire(), ours, theirs)
    assert answer is not None
    assert dns.rcode.to_text(dns.message.from_wire(answer.to_wire()).rcode()) == code


def test_a_message_that_does_not_answer_our_question_is_dropped() -> None:
    theirs = asked(id=7)
    ours = rebuild_question(theirs)
    of_another_id = answered(asked(id=(ours.id + 1) % 2**16))
    of_another_question = answered(asked("AAAA", id=ours.id))
    for wire in (
        of_another_id.to_wire(),
        of_another_question.to_wire(),
        ours.to_wire(),
        b"SSH-2.0-OpenSSH_9.2",
        answered(ours).to_wire() + b"smuggled",
    ):
        assert rebuild_answer(wire, ours, theirs) is None


def test_edns_options_of_an_answer_are_not_passed_on() -> None:
    theirs = asked(use_edns=0)
    ours = rebuild_question(theirs)
    response = answered(ours, "A 9.9.9.9")
    response.use_edns(0, options=[dns.edns.GenericOption(PRIVATE_OPTION, b"smuggled")])
    answer = rebuild_answer(response.to_wire(), ours, theirs)
    assert answer is not None
    assert b"smuggled" not in answer.to_wire()


@pytest.mark.parametrize(
    ("payload", "room"), [(None, 512), (100, 512), (1232, 1232), (65_535, DATAGRAM_BYTES)]
)
def test_an_answer_in_a_datagram_is_truncated_to_the_stubs_size_and_flagged(
    payload: int | None, room: int
) -> None:
    theirs = asked("TXT", use_edns=False if payload is None else 0, payload=payload)
    ours = rebuild_question(theirs)
    response = answered(ours, *(f'TXT "{number:0200}"' for number in range(30)))
    answer = rebuild_answer(response.to_wire(max_size=65_535), ours, theirs)
    assert answer is not None
    wire = encode_datagram(answer, theirs)
    assert room - 250 < len(wire) <= room
    assert dns.message.from_wire(wire).flags & dns.flags.TC
