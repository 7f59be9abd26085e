"""What the DNS relay passes on: messages made anew of one question or of its answer, and no byte that was not understood.

A question goes on as its name, its type and four flags: EDNS options, and whatever else came with it, do not. An answer goes on
with its records, each of which was parsed.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import dns.exception
import dns.flags
import dns.message
import dns.opcode
import dns.rdataclass
import dns.rdatatype

if TYPE_CHECKING:
    from dns.message import Message

QUESTION_BYTES = 1024
"""A name has 255 at most; the rest is for EDNS options, which stubs pad by (RFC 8467: to 128)."""

PAYLOAD_BYTES = 1232
"""Datagrams that nameservers are asked for: what passes everywhere unfragmented, by the agreement of DNS Flag Day 2020."""
DATAGRAM_BYTES = 4096
"""That a stub is given at most, whatever it says that it can take (RFC 6891 §6.2.5)."""
PLAIN_BYTES = 512
"""That one without EDNS can take (RFC 1035 §4.2.1)."""

FLAGS = dns.flags.RD | dns.flags.AD | dns.flags.CD

MALFORMED = (dns.exception.DNSException, ValueError, struct.error)
"""What the parser raises for bytes that are no message."""


def question(wire: bytes) -> Message | None:
    """A stub's message, if it asks one thing that a browser may ask; None for all else.

    None for transfers of zones, ANY and other types of questions that no record has, for other classes than IN, other
    opcodes (UPDATE, NOTIFY), answers, and for messages with records or signatures.
    """
    if len(wire) > QUESTION_BYTES:
        return None
    try:
        asked = dns.message.from_wire(wire)
    except MALFORMED:
        return None
    has_records = asked.answer or asked.authority or asked.additional or asked.tsig
    if (
        asked.flags & dns.flags.QR
        or asked.opcode() != dns.opcode.QUERY
        or has_records
        or len(asked.question) != 1
    ):
        return None
    (one,) = asked.question
    if one.rdclass != dns.rdataclass.IN or one.rdtype == 0 or dns.rdatatype.is_metatype(one.rdtype):
        return None
    return asked


def passed_on(asked: Message) -> Message:
    """The same question in a message of ours, with an id that the stub does not know."""
    (one,) = asked.question
    return dns.message.make_query(
        one.name,
        one.rdtype,
        use_edns=0 if asked.edns >= 0 else False,
        want_dnssec=asked.edns >= 0 and bool(asked.ednsflags & dns.flags.DO),
        payload=PAYLOAD_BYTES,
        flags=asked.flags & FLAGS,
    )


def answer(wire: bytes, ours: Message, asked: Message) -> Message | None:
    """A nameserver's message, if it answers our question, as the answer to the stub's; None for all else."""
    try:
        found = dns.message.from_wire(
            wire, one_rr_per_rrset=True
        )  # keeps records as they are, in their order
    except MALFORMED:
        return None
    if not ours.is_response(found) or len(found.question) > 1:
        return None
    code = found.rcode()
    found.id = asked.id
    found.question = asked.question
    if asked.edns >= 0:
        found.use_edns(0, ednsflags=found.ednsflags & dns.flags.DO, payload=PAYLOAD_BYTES)
    else:
        found.use_edns(False)
    found.set_rcode(code)
    return found


def datagram(found: Message, asked: Message) -> bytes:
    """An answer that the stub can take, with the flag TC if it is cut short: then it asks by TCP."""
    room = min(max(asked.payload, PLAIN_BYTES), DATAGRAM_BYTES) if asked.edns >= 0 else PLAIN_BYTES
    return found.to_wire(max_size=room, prefer_truncation=True)
