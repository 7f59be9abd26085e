"""What a server sealed, OpenSSL's or by hand, is opened by the secret that the client logged."""

from __future__ import annotations

import hashlib
import hmac
import os
import subprocess
import sys
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.capture.records import (
    HANDSHAKE_RECORDS_LIMIT,
    TLS12_SUITES,
    TLS13_SUITES,
    CannotOpen,
    Cbc12,
    Opener,
    client_random_of,
    server_random_of,
)
from tests.crawler.capture.talking import ANSWERS, BODY, TLS13_NAMES, Talk, contexts, talk, talked

if TYPE_CHECKING:
    from pathlib import Path

GCM, CBC_SHA = 0xC02B, 0xC009
DHE = 0xCCAA

DH_PARAMETERS = """\
-----BEGIN DH PARAMETERS-----
MIGHAoGBALLP8mUGXKCOSjJiw/GEHbM3o7Xkdpuo4Y2buF600K6kEiuKPzijinJ/
gVlBqN9LY0fSND/6yWkSz9xralqXMnuj9xh5At4Ow7qfrhxtmZQaULE5crIlMNSD
ZYVyK4ljiAlnUggyyB6UjkumQ5uybj+XpS8LEviq3wjsQ5MQD/9fAgEC
-----END DH PARAMETERS-----
"""
"""A group of 1024 bits, the smallest that OpenSSL takes."""


def drained(opener: Opener) -> bytes:
    """All that it can give."""
    pieces = []
    for size in (1024, 32, 1):
        while piece := opener.take(size):
            pieces.append(piece)
    return b"".join(pieces)


def opened(talk: Talk, received: bytes) -> bytes:
    opener = talk.opener()
    opener.feed(received)
    return drained(opener)


def record_starts(received: bytes) -> list[int]:
    starts = [0]
    while starts[-1] < len(received):
        starts.append(starts[-1] + 5 + int.from_bytes(received[starts[-1] + 3 : starts[-1] + 5], "big"))
    return starts


class Sealer:
    """A TLS 1.3 server's records with AES-128-GCM, by hand (RFC 8446 §5.2, §7)."""

    def __init__(self, secret: bytes = bytes(range(32))) -> None:
        self.secret = secret
        self.sequence = 0

    def derived(self, label: bytes, size: int) -> bytes:
        info = size.to_bytes(2, "big") + bytes([6 + len(label)]) + b"tls13 " + label + b"\0"
        return HKDFExpand(hashes.SHA256(), size, info).derive(self.secret)

    def seal(self, content: bytes, *, kind: int = 23, padding: int = 0) -> bytes:
        inner = content + bytes([kind]) * (kind > 0) + bytes(padding)
        header = b"\x17\x03\x03" + (len(inner) + 16).to_bytes(2, "big")
        iv = int.from_bytes(self.derived(b"iv", 12), "big")
        nonce = (iv ^ self.sequence).to_bytes(12, "big")
        self.sequence += 1
        return header + AESGCM(self.derived(b"key", 16)).encrypt(nonce, inner, header)

    def update(self, *, after: bytes = b"") -> bytes:
        record = self.seal(KEY_UPDATE + after, kind=22)
        self.secret, self.sequence = self.derived(b"traffic upd", 32), 0
        return record

    def opener(self) -> Opener:
        return Opener("TLS 1.3", 0x1301, bytes(range(32)), server_random=bytes(32), client_random=bytes(32))


KEY_UPDATE = bytes([24, 0, 0, 1, 0])
TICKET = bytes([4, 0, 1, 0]) + bytes(256)
UNDER_OTHER_KEYS = Sealer(bytes(32)).seal(b"certificate", kind=22)
IN_THE_CLEAR = b"\x16\x03\x03\0\x02hi" + b"\x14\x03\x03\0\x01\x01"


def unsealed(*records: bytes) -> bytes:
    opener = Sealer().opener()
    for record in records:
        opener.feed(record)
    return drained(opener)


@pytest.mark.parametrize("suite", sorted(TLS12_SUITES), ids=hex)
def test_every_suite_of_tls_1_2_is_opened(suite: int, tmp_path: Path) -> None:
    server, client = contexts(suite=suite)
    if suite == DHE:
        parameters = tmp_path / "dh.pem"
        parameters.write_text(DH_PARAMETERS)
        server.load_dh_params(str(parameters))
    seen, _ = talk(server, client)
    assert (seen.version, seen.suite) == ("TLS 1.2", suite)
    assert opened(seen, seen.received) == BODY


@pytest.mark.parametrize("suite", sorted(TLS13_SUITES), ids=hex)
def test_every_suite_of_tls_1_3_is_opened(suite: int, tmp_path: Path) -> None:
    # Python cannot choose them; OpenSSL's configuration can, for a whole process.
    configuration = tmp_path / "openssl.cnf"
    configuration.write_text(
        f"openssl_conf = a\n[a]\nssl_conf = b\n[b]\nsystem_default = c\n[c]\nCiphersuites = {TLS13_NAMES[suite]}\n"
    )
    environment = {**os.environ, "OPENSSL_CONF": str(configuration)}
    command = [sys.executable, "-m", "tests.crawler.capture.talking"]
    talk = Talk.read(subprocess.check_output(command, env=environment, text=True))
    assert (talk.version, talk.suite) == ("TLS 1.3", suite)
    assert opened(talk, talk.received) == BODY


def test_the_trace_of_rfc_8448_is_opened() -> None:
    secret = bytes.fromhex("a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643")
    ticket = bytes.fromhex(
        "17030300de3a6b8f90414a97d6959c3487680de5134a2b240e6cffac116e95d41d6af8f6b580dcf3d11d63c758db289a"
        "015940252f55713e061dc13e078891a38efbcf5753ad8ef170ad3c7353d16d9da773b9ca7f2b9fa1b6c0d4a3d03f75e0"
        "9c30ba1e62972ac46f75f7b981be63439b2999ce13064615139891d5e4c5b406f16e3fc181a77ca475840025db2f0a77"
        "f81b5ab05b94c01346755f69232c86519d86cbeeac87aac347d143f9605d64f650db4d023e70e952ca49fe5137121c74"
        "bc2697687e248746d6df353005f3bce18696129c8153556b3b6c6779b37bf15985684f"
    )
    data = bytes.fromhex(
        "17030300432e937e11ef4ac740e538ad36005fc4a46932fc3225d05f82aa1b36e30efaf97d90e6dffc602dcb501a59a8"
        "fcc49c4bf2e5f0a21c0047c2abf332540dd032e167c2955d"
    )
    opener = Opener("TLS 1.3", 0x1301, secret, server_random=bytes(32), client_random=bytes(32))
    opener.feed(ticket + data)
    assert drained(opener) == bytes(range(50))


@pytest.mark.parametrize("suite", [None, GCM, CBC_SHA])
@pytest.mark.parametrize("size", [1, 2, 5, 7, 1448, 16_406])
def test_the_payload_may_be_cut_anywhere(suite: int | None, size: int) -> None:
    seen = talked(suite)
    opener = seen.opener()
    for at in range(0, len(seen.received), size):
        opener.feed(seen.received[at : at + size])
    assert opener.take(len(BODY)) == BODY
    assert opener.take(1) is None


@settings(deadline=None)
@given(st.lists(st.integers(0, len(BODY)), max_size=20), st.lists(st.integers(0, 20_000), max_size=20))
def test_bytes_are_given_in_order_as_soon_as_their_record_is_whole(cuts: list[int], sizes: list[int]) -> None:
    seen = talked(None)
    opener, given = seen.opener(), b""
    cuts = [0, *sorted(cuts), len(seen.received)]
    for begin, end, size in zip(cuts, cuts[1:], [*sizes, *[1000] * 21], strict=False):
        opener.feed(seen.received[begin:end])
        given += opener.take(size) or b""
        assert BODY.startswith(given)
    assert opener.take(len(BODY) - len(given)) == BODY[len(given) :]


def test_what_is_not_all_there_is_not_given_and_not_lost() -> None:
    sealer = Sealer()
    opener = sealer.opener()
    first, second = sealer.seal(b"first"), sealer.seal(b"second")
    opener.feed(first + second[:-1])
    assert opener.take(6) is None
    assert (opener.take(2), opener.take(4), opener.take(3)) == (b"fi", None, b"rst")
    opener.feed(second[-1:])
    assert (opener.take(-1), opener.take(0), opener.take(6), opener.take(1)) == (None, b"", b"second", None)


@pytest.mark.parametrize("suite", [None, GCM])
def test_a_resumed_session_is_opened(suite: int | None) -> None:
    server, client = contexts(suite=suite)
    first, session = talk(server, client)
    second, _ = talk(server, client, session)
    assert (first.reused, second.reused) == (False, True)
    assert opened(second, second.received) == BODY


@pytest.mark.parametrize("suite", [None, GCM, CBC_SHA, 0xCCA9])
@settings(max_examples=60, deadline=None)
@given(share=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_nothing_is_given_from_a_flipped_bit_on(suite: int | None, share: float, bit: int) -> None:
    seen = talked(suite)
    at = int(share * len(seen.received))
    flipped = bytearray(seen.received)
    flipped[at] ^= 1 << bit
    given = opened(seen, bytes(flipped))
    before = opened(
        seen, seen.received[: max(begin for begin in record_starts(seen.received) if begin <= at)]
    )
    # The handshake counts for nothing as long as its records can be told.
    assert given == before or (given, before) == (BODY, b"")


@pytest.mark.parametrize("suite", [None, GCM, CBC_SHA, 0xCCA9])
def test_each_bit_of_a_record_counts(suite: int | None) -> None:
    seen = talked(suite)
    starts = record_starts(seen.received)
    begin = next(begin for begin in starts[1:] if len(opened(seen, seen.received[:begin])) == len(ANSWERS[0]))
    for bit in range(8 * (begin - starts[starts.index(begin) - 1])):
        flipped = bytearray(seen.received)
        flipped[begin - 1 - bit // 8] ^= 1 << bit % 8
        assert opened(seen, bytes(flipped)) == b""


@pytest.mark.parametrize("suite", [None, GCM, CBC_SHA, 0xCCA9])
def test_another_key_opens_nothing(suite: int | None) -> None:
    seen = talked(suite)
    opener = seen.opener(secret=bytes(len(seen.secret) // 2))
    opener.feed(seen.received)
    assert (opener.take(0), opener.take(1)) == (b"", None)


def test_tickets_between_data_are_passed_over_whole_in_pieces_and_together() -> None:
    sealer = Sealer()
    records = [
        *(IN_THE_CLEAR, UNDER_OTHER_KEYS),
        *(sealer.seal(TICKET, kind=22), sealer.seal(b"a"), sealer.seal(TICKET + TICKET, kind=22)),
        *(sealer.seal(b"b"), sealer.seal(TICKET[:2], kind=22), sealer.seal(TICKET[2:9], kind=22)),
        *(sealer.seal(TICKET[9:] + b"\x04\0\0\0" + TICKET[:4], kind=22), sealer.seal(TICKET[4:], kind=22)),
        *(
            sealer.seal(b"c"),
            sealer.seal(b"\x01\0", kind=21),
            IN_THE_CLEAR[7:],
            sealer.seal(b""),
            sealer.seal(b"d"),
        ),
    ]
    assert unsealed(*records) == b"abcd"


def test_keys_are_updated_as_often_as_the_server_says_so() -> None:
    sealer = Sealer()
    records = [sealer.seal(b"a"), sealer.update(), sealer.seal(b"b"), sealer.seal(b"c"), sealer.update()]
    records += [sealer.update(), sealer.seal(b"d")]
    assert unsealed(*records) == b"abcd"


def test_an_update_may_follow_a_ticket_and_may_come_in_two_records() -> None:
    sealer = Sealer()
    records = [
        sealer.seal(b"a"),
        sealer.seal(TICKET + KEY_UPDATE[:3], kind=22),
        sealer.seal(KEY_UPDATE[3:], kind=22),
    ]
    updated = Sealer(sealer.derived(b"traffic upd", 32))
    assert unsealed(*records, updated.seal(b"b")) == b"ab"


def test_nothing_may_follow_an_update_in_its_record() -> None:
    sealer = Sealer()
    records = [sealer.seal(b"a"), sealer.update(after=TICKET), sealer.seal(b"b")]
    assert unsealed(*records) == b"a"


def test_padding_is_stripped_and_a_record_of_nothing_else_is_the_end() -> None:
    sealer = Sealer()
    records = [
        sealer.seal(b"a\0", padding=100),
        sealer.seal(b"", padding=9),
        sealer.seal(TICKET, kind=22, padding=1),
    ]
    assert unsealed(*records, sealer.seal(b"b")) == b"a\0b"
    assert unsealed(*records, sealer.seal(b"", kind=0, padding=9), sealer.seal(b"c")) == b"a\0"


@pytest.mark.parametrize("kind", [20, 24, 255])
def test_content_of_no_known_kind_is_the_end(kind: int) -> None:
    sealer = Sealer()
    assert unsealed(sealer.seal(b"a"), sealer.seal(b"b", kind=kind), sealer.seal(b"c")) == b"a"


def test_the_handshake_is_not_looked_through_for_ever() -> None:
    assert unsealed(*[UNDER_OTHER_KEYS] * HANDSHAKE_RECORDS_LIMIT, Sealer().seal(b"a")) == b"a"
    assert unsealed(*[UNDER_OTHER_KEYS] * (HANDSHAKE_RECORDS_LIMIT + 1), Sealer().seal(b"a")) == b""


def test_a_record_under_other_keys_between_data_is_the_end() -> None:
    sealer = Sealer()
    assert unsealed(sealer.seal(b"a"), UNDER_OTHER_KEYS, sealer.seal(b"b")) == b"a"


@pytest.mark.parametrize("no_record", [b"\x18\x03\x03\0\0", b"HTTP/1.1 400", b"\x16\x03\x03\x48\x01"])
def test_what_is_no_record_is_the_end(no_record: bytes) -> None:
    sealer = Sealer()
    assert unsealed(sealer.seal(b"a"), no_record, sealer.seal(b"b")) == b"a"
    assert unsealed(no_record + bytes(0x4801), Sealer().seal(b"b")) == b""


def test_tls_1_2_has_no_data_in_the_clear() -> None:
    seen = talked(GCM)
    assert opened(seen, b"\x17\x03\x03\0\x01a" + seen.received) == b""


@pytest.mark.parametrize(
    ("padding", "is_right"),
    [
        (b"\3\3\3\3", True),
        (b"\x13" * 20, True),
        (b"\2\3\3\3", False),
        (b"\0" + b"\x13" * 19, False),
        (b"\xff" * 4, False),
    ],
)
def test_padding_and_mac_of_cbc_are_looked_at(padding: bytes, is_right: bool) -> None:
    header, plaintext = b"\x17\x03\x03\0\0", b"a" * 8
    covered = (7).to_bytes(8, "big") + b"\x17\x03\x03\0\x08"
    mac = hmac.digest(b"mac key", covered + plaintext, "sha1")
    encryptor = Cipher(AES(bytes(16)), CBC(bytes(16))).encryptor()
    payload = bytearray(bytes(16) + encryptor.update(plaintext + mac + padding) + encryptor.finalize())
    sealed = Cbc12(bytes(16), b"mac key", "sha1")
    if is_right:
        assert sealed.open(7, header, payload) == plaintext
        with pytest.raises(CannotOpen, match="wrong MAC"):
            sealed.open(8, header, payload)
    else:
        with pytest.raises(CannotOpen, match="wrong padding"):
            sealed.open(7, header, payload)


@pytest.mark.parametrize(
    ("version", "suite"),
    [("TLS 1.2", 0x1301), ("TLS 1.3", 0xC02F), ("TLS 1.2", 0x000A), ("TLS 1.1", 0x002F), ("", 0)],
)
def test_what_is_unknown_is_said_at_once(version: str, suite: int) -> None:
    with pytest.raises(CannotOpen):
        Opener(version, suite, bytes(48), server_random=bytes(32), client_random=bytes(32))


SUITES = [("TLS 1.3", suite) for suite in TLS13_SUITES] + [("TLS 1.2", suite) for suite in TLS12_SUITES]
RECORDS = st.tuples(st.sampled_from([20, 21, 22, 23]), st.binary(max_size=100))


@given(st.sampled_from(SUITES), st.lists(RECORDS), st.binary(max_size=48), st.binary())
def test_nothing_raises(
    suite: tuple[str, int], records: list[tuple[int, bytes]], secret: bytes, rest: bytes
) -> None:
    opener = Opener(*suite, secret, server_random=b"", client_random=b"")
    for kind, payload in records:
        opener.feed(bytes([kind, 3, 3]) + len(payload).to_bytes(2, "big") + payload)
    opener.feed(rest)
    assert opener.take(1) is None


@given(st.lists(st.tuples(st.sampled_from([0, 20, 21, 22, 23]), st.binary(max_size=20))))
def test_nothing_raises_whatever_is_sealed(contents: list[tuple[int, bytes]]) -> None:
    sealer = Sealer()
    data = unsealed(*(sealer.seal(content, kind=kind) for kind, content in contents))
    assert len(data) <= sum(len(content) for _, content in contents)


def test_memory_holds_what_is_not_taken_and_nothing_after_the_end() -> None:
    sealer = Sealer()
    records = [sealer.seal(bytes(16_384)) for _ in range(512)]
    opener = sealer.opener()
    tracemalloc.start()
    for record in records:
        opener.feed(record)
        assert opener.take(16_384) == bytes(16_384)
    opener.feed(b"no record")
    for record in records:
        opener.feed(record)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000


def test_the_random_of_a_hello_is_found_and_of_nothing_else() -> None:
    hello = b"\0\0\x4c\3\3" + bytes(range(32)) + bytes(40)
    assert client_random_of(b"\1" + hello) == server_random_of(b"\2" + hello) == bytes(range(32))
    assert client_random_of(b"\2" + hello) is server_random_of(b"\1" + hello) is None
    assert server_random_of(b"\2" + hello[:36]) is client_random_of(b"") is None
    assert server_random_of(b"\2" + hello[:37]) == bytes(range(32))


def test_a_hello_retry_request_has_no_random() -> None:
    fixed = hashlib.sha256(b"HelloRetryRequest").digest()
    assert server_random_of(b"\2\0\0\x4c\3\3" + fixed + bytes(40)) is None
    assert client_random_of(b"\1\0\0\x4c\3\3" + fixed + bytes(40)) == fixed
