"""Records of TLS 1.3, sealed by hand, are decrypted by the server's secret."""

from __future__ import annotations

import tracemalloc

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from hypothesis import given
from hypothesis import strategies as st

from crawler.capture.records import HANDSHAKE_RECORDS_LIMIT, RecordDecrypter
from tests.crawler.capture.talking import drained


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

    def opener(self) -> RecordDecrypter:
        return RecordDecrypter(
            "TLS 1.3", 0x1301, bytes(range(32)), server_random=bytes(32), client_random=bytes(32)
        )


KEY_UPDATE = bytes([24, 0, 0, 1, 0])
TICKET = bytes([4, 0, 1, 0]) + bytes(256)
UNDER_OTHER_KEYS = Sealer(bytes(32)).seal(b"certificate", kind=22)
IN_THE_CLEAR = b"\x16\x03\x03\0\x02hi" + b"\x14\x03\x03\0\x01\x01"


def unsealed(*records: bytes) -> bytes:
    opener = Sealer().opener()
    for record in records:
        opener.feed(record)
    return drained(opener)


def test_the_trace_of_rfc_8448_is_decrypted() -> None:
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
    opener = RecordDecrypter("TLS 1.3", 0x1301, secret, server_random=bytes(32), client_random=bytes(32))
    opener.feed(ticket + data)
    assert drained(opener) == bytes(range(50))


def test_incomplete_bytes_are_neither_given_nor_lost() -> None:
    sealer = Sealer()
    opener = sealer.opener()
    first, second = sealer.seal(b"first"), sealer.seal(b"second")
    opener.feed(first + second[:-1])
    assert opener.take(6) is None
    assert (opener.take(2), opener.take(4), opener.take(3)) == (b"fi", None, b"rst")
    opener.feed(second[-1:])
    assert (opener.take(-1), opener.take(0), opener.take(6), opener.take(1)) == (None, b"", b"second", None)


def test_tickets_between_data_are_skipped_whole_in_pieces_and_together() -> None:
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
def test_an_unknown_content_type_is_the_end(kind: int) -> None:
    sealer = Sealer()
    assert unsealed(sealer.seal(b"a"), sealer.seal(b"b", kind=kind), sealer.seal(b"c")) == b"a"


def test_only_so_many_handshake_records_are_skipped() -> None:
    assert unsealed(*[UNDER_OTHER_KEYS] * HANDSHAKE_RECORDS_LIMIT, Sealer().seal(b"a")) == b"a"
    assert unsealed(*[UNDER_OTHER_KEYS] * (HANDSHAKE_RECORDS_LIMIT + 1), Sealer().seal(b"a")) == b""


def test_a_record_under_other_keys_between_data_is_the_end() -> None:
    sealer = Sealer()
    assert unsealed(sealer.seal(b"a"), UNDER_OTHER_KEYS, sealer.seal(b"b")) == b"a"


@pytest.mark.parametrize("no_record", [b"\x18\x03\x03\0\0", b"HTTP/1.1 400", b"\x16\x03\x03\x48\x01"])
def test_bytes_that_are_not_a_record_are_the_end(no_record: bytes) -> None:
    sealer = Sealer()
    assert unsealed(sealer.seal(b"a"), no_record, sealer.seal(b"b")) == b"a"
    assert unsealed(no_record + bytes(0x4801), Sealer().seal(b"b")) == b""


@given(st.lists(st.tuples(st.sampled_from([0, 20, 21, 22, 23]), st.binary(max_size=20))))
def test_nothing_raises_whatever_is_sealed(contents: list[tuple[int, bytes]]) -> None:
    sealer = Sealer()
    data = unsealed(*(sealer.seal(content, kind=kind) for kind, content in contents))
    assert len(data) <= sum(len(content) for _, content in contents)


def test_memory_holds_only_untaken_data_and_nothing_after_the_end() -> None:
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
