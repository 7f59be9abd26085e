"""Messages that the DNS relay passes on: each is made anew from a parsed question or answer.

Of a question the name, the type and four flags pass, but no EDNS options or other data. Of an answer the
records pass, each of which was parsed.
"""

import struct

import dns.exception
import dns.flags
import dns.message
import dns.opcode
import dns.rdataclass
import dns.rdatatype
from dns.message import Message

QUESTION_BYTES = 1024
"""Longest question: a name has at most 255 bytes, the rest is for EDNS options such as padding (RFC 8467:
to 128)."""

PAYLOAD_BYTES = 1232
"""Datagram size asked of nameservers, which passes unfragmented everywhere (DNS Flag Day 2020)."""
DATAGRAM_BYTES = 4096
"""Largest datagram sent to a stub, whatever size it offers (RFC 6891 §6.2.5)."""
PLAIN_BYTES = 512
"""Largest datagram for a stub without EDNS (RFC 1035 §4.2.1)."""

FLAGS = dns.flags.RD | dns.flags.AD | dns.flags.CD

MALFORMED = (dns.exception.DNSException, ValueError, struct.error)


def parse_question(wire: bytes) -> Message | None:
    """Parse a stub's message; None unless it is one question that a browser may ask.

    Refused are zone transfers, ANY and other query-only types, classes other than IN, opcodes other than
    QUERY, answers, and messages with records or signatures.
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
    (entry,) = asked.question
    if entry.rdclass != dns.rdataclass.IN or entry.rdtype == 0 or dns.rdatatype.is_metatype(entry.rdtype):
        return None
    return asked


def rebuild_question(asked: Message) -> Message:
    """Make a message with the same question, and an id unknown to the stub."""
    (entry,) = asked.question
    return dns.message.make_query(
        entry.name,
        entry.rdtype,
        use_edns=0 if asked.edns >= 0 else False,
        want_dnssec=asked.edns >= 0 and bool(asked.ednsflags & dns.flags.DO),
        payload=PAYLOAD_BYTES,
        flags=asked.flags & FLAGS,
    )


def rebuild_answer(wire: bytes, ours: Message, asked: Message) -> Message | None:
    """Turn a nameserver's answer into one to the stub; None if it answers something else."""
    try:
        response = dns.message.from_wire(
            wire, one_rr_per_rrset=True
        )  # keeps records as they are, in their order
    except MALFORMED:
        return None
    if not ours.is_response(response) or len(response.question) > 1:
        return None
    code = response.rcode()
    response.id = asked.id
    response.question = asked.question
    if asked.edns >= 0:
        response.use_edns(0, ednsflags=response.ednsflags & dns.flags.DO, payload=PAYLOAD_BYTES)
    else:
        response.use_edns(False)
    response.set_rcode(code)
    return response


def encode_datagram(response: Message, asked: Message) -> bytes:
    """Encode an answer in the size that the stub takes; cut short, it has the flag TC."""
    room = min(max(asked.payload, PLAIN_BYTES), DATAGRAM_BYTES) if asked.edns >= 0 else PLAIN_BYTES
    return response.to_wire(max_size=room, prefer_truncation=True)
