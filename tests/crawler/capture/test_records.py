"""Records of an OpenSSL server are decrypted by the secret that the client logged."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.capture.ciphers import TLS12_SUITES, TLS13_SUITES, CannotDecrypt
from crawler.capture.records import RecordDecrypter
from tests.crawler.capture.talking import ANSWERS, BODY, TLS13_NAMES, Talk, contexts, drained, talk, talked

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


def opened(talk: Talk, received: bytes) -> bytes:
    opener = talk.opener()
    opener.feed(received)
    return drained(opener)


def record_starts(received: bytes) -> list[int]:
    starts = [0]
    while starts[-1] < len(received):
        starts.append(starts[-1] + 5 + int.from_bytes(received[starts[-1] + 3 : starts[-1] + 5], "big"))
    return starts


@pytest.mark.parametrize("suite", sorted(TLS12_SUITES), ids=hex)
def test_every_suite_of_tls_1_2_is_decrypted(suite: int, tmp_path: Path) -> None:
    server, client = contexts(suite=suite)
    if suite == DHE:
        parameters = tmp_path / "dh.pem"
        parameters.write_text(DH_PARAMETERS)
        server.load_dh_params(str(parameters))
    seen, _ = talk(server, client)
    assert (seen.version, seen.suite) == ("TLS 1.2", suite)
    assert opened(seen, seen.received) == BODY


@pytest.mark.parametrize("suite", sorted(TLS13_SUITES), ids=hex)
def test_every_suite_of_tls_1_3_is_decrypted(suite: int, tmp_path: Path) -> None:
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


@pytest.mark.parametrize("suite", [None, GCM])
def test_a_resumed_session_is_decrypted(suite: int | None) -> None:
    server, client = contexts(suite=suite)
    first, session = talk(server, client)
    second, _ = talk(server, client, session)
    assert (first.reused, second.reused) == (False, True)
    assert opened(second, second.received) == BODY


@pytest.mark.parametrize("suite", [None, GCM, CBC_SHA, 0xCCA9])
@settings(max_examples=60, deadline=None)
@given(share=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_no_data_comes_after_a_flipped_bit(suite: int | None, share: float, bit: int) -> None:
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
def test_another_key_decrypts_nothing(suite: int | None) -> None:
    seen = talked(suite)
    opener = seen.opener(secret=bytes(len(seen.secret) // 2))
    opener.feed(seen.received)
    assert (opener.take(0), opener.take(1)) == (b"", None)


def test_tls_1_2_has_no_data_in_the_clear() -> None:
    seen = talked(GCM)
    assert opened(seen, b"\x17\x03\x03\0\x01a" + seen.received) == b""


@pytest.mark.parametrize(
    ("version", "suite"),
    [("TLS 1.2", 0x1301), ("TLS 1.3", 0xC02F), ("TLS 1.2", 0x000A), ("TLS 1.1", 0x002F), ("", 0)],
)
def test_an_unknown_version_or_suite_raises(version: str, suite: int) -> None:
    with pytest.raises(CannotDecrypt):
        RecordDecrypter(version, suite, bytes(48), server_random=bytes(32), client_random=bytes(32))


SUITES = [("TLS 1.3", suite) for suite in TLS13_SUITES] + [("TLS 1.2", suite) for suite in TLS12_SUITES]
RECORDS = st.tuples(st.sampled_from([20, 21, 22, 23]), st.binary(max_size=100))


@given(st.sampled_from(SUITES), st.lists(RECORDS), st.binary(max_size=48), st.binary())
def test_nothing_raises(
    suite: tuple[str, int], records: list[tuple[int, bytes]], secret: bytes, rest: bytes
) -> None:
    opener = RecordDecrypter(*suite, secret, server_random=b"", client_random=b"")
    for kind, payload in records:
        opener.feed(bytes([kind, 3, 3]) + len(payload).to_bytes(2, "big") + payload)
    opener.feed(rest)
    assert opener.take(1) is None
