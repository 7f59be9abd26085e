"""TLS between two OpenSSL ends: the bytes that the client received, and its key log."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import random
import ssl
import tempfile
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import rsa

from crawler.capture.records import RecordDecrypter
from crawler.netlog.hello import client_random, server_random
from localweb.serving.certificates import Authority

HOST = "example.test"
OP_NO_ENCRYPT_THEN_MAC = 1 << 19
"""Option without a name in Python: browsers do not offer RFC 7366, OpenSSL does."""

ECDSA = frozenset({0xC009, 0xC00A, 0xC023, 0xC02B, 0xC02C, 0xCCA9})
TLS13_NAMES = {
    0x1301: "TLS_AES_128_GCM_SHA256",
    0x1302: "TLS_AES_256_GCM_SHA384",
    0x1303: "TLS_CHACHA20_POLY1305_SHA256",
}
ANSWERS = [random.Random(size).randbytes(size) for size in (100, 40_000, 1, 16_384, 3)]
BODY = b"".join(ANSWERS)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Talk:
    """Bytes that a client sent and received in one connection, and the arguments of their decrypter."""

    sent: bytes
    received: bytes
    version: str
    suite: int
    secret: str
    server_random: str
    client_random: str
    reused: bool

    @classmethod
    def read(cls, text: str) -> Talk:
        """The output of `python -m tests.crawler.capture.talking`: a TLS conversation by OpenSSL as it is configured here."""
        fields = json.loads(text)
        return cls(**{**fields, **{name: bytes.fromhex(fields[name]) for name in ("sent", "received")}})

    def opener(self, *, secret: bytes | None = None) -> RecordDecrypter:
        return RecordDecrypter(
            self.version,
            self.suite,
            secret or bytes.fromhex(self.secret),
            server_random=bytes.fromhex(self.server_random),
            client_random=bytes.fromhex(self.client_random),
        )


@functools.cache
def authority(*, ecdsa: bool) -> Authority:
    return Authority(leaf_key=None if ecdsa else rsa.generate_private_key(65_537, 2048))


def contexts(*, suite: int | None = None) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Contexts of a server and a client for TLS 1.2 with the suite, or for TLS 1.3."""
    server = authority(ecdsa=suite is None or suite in ECDSA).context(HOST, ["http/1.1"])
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_mode = ssl.CERT_NONE
    client.options |= OP_NO_ENCRYPT_THEN_MAC
    for context in (server, client):
        context.set_ciphers("ALL:@SECLEVEL=0")
        if suite is None:
            context.minimum_version = ssl.TLSVersion.TLSv1_3
        else:
            context.maximum_version = ssl.TLSVersion.TLSv1_2
            names = {cipher["id"] & 0xFFFF: cipher["name"] for cipher in context.get_ciphers()}
            context.set_ciphers(f"{names[suite]}:@SECLEVEL=0")
    return server, client


def talk(
    server: ssl.SSLContext, client: ssl.SSLContext, session: ssl.SSLSession | None = None
) -> tuple[Talk, ssl.SSLSession | None]:
    """A connection with a handshake, ANSWERS and close_notify, and its session, to be resumed."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sent: list[bytes] = []
    received: list[bytes] = []

    def flush() -> None:
        sent.append(outgoing.read())
        to_server.write(sent[-1])
        received.append(answering.read())
        to_client.write(received[-1])

    outgoing, answering = ssl.MemoryBIO(), ssl.MemoryBIO()
    with tempfile.NamedTemporaryFile() as keys:
        client.keylog_filename = keys.name
        browser = client.wrap_bio(to_client, outgoing, server_hostname=HOST, session=session)
        origin = server.wrap_bio(to_server, answering, server_side=True)
        for _ in range(4):
            for side in (browser, origin):
                with contextlib.suppress(ssl.SSLWantReadError):
                    side.do_handshake()
                flush()
        for answer in ANSWERS:
            origin.write(answer)
        with contextlib.suppress(ssl.SSLWantReadError):
            origin.unwrap()
        flush()
        read = b""
        while len(read) < len(BODY):
            read += browser.read(len(BODY))
        assert read == BODY
        logged = dict(line.rsplit(" ", 1) for line in Path(keys.name).read_text().splitlines())
    return described(
        b"".join(sent), b"".join(received), logged, reused=browser.session_reused
    ), browser.session


def described(sent: bytes, received: bytes, logged: dict[str, str], *, reused: bool | None) -> Talk:
    hello = received[5:]
    suite_at = 4 + 2 + 32 + 1 + hello[4 + 2 + 32]
    suite = int.from_bytes(hello[suite_at : suite_at + 2], "big")
    clients, servers = client_random(sent[5:]), server_random(hello)
    assert clients is not None
    assert servers is not None
    label = "SERVER_TRAFFIC_SECRET_0" if suite in TLS13_NAMES else "CLIENT_RANDOM"
    return Talk(
        sent=sent,
        received=received,
        version="TLS 1.3" if suite in TLS13_NAMES else "TLS 1.2",
        suite=suite,
        secret=logged[f"{label} {clients.hex()}"],
        server_random=servers.hex(),
        client_random=clients.hex(),
        reused=bool(reused),
    )


def drained(opener: RecordDecrypter) -> bytes:
    """All bytes that it has."""
    pieces = []
    for size in (1024, 32, 1):
        while piece := opener.take(size):
            pieces.append(piece)
    return b"".join(pieces)


@functools.cache
def talked(suite: int | None) -> Talk:
    return talk(*contexts(suite=suite))[0]


if __name__ == "__main__":
    seen, _ = talk(*contexts())
    print(json.dumps(dataclasses.asdict(seen), default=bytes.hex))
