"""Server side of TLS in memory: ciphertext in, plaintext out,
and the server's own handshake bytes counted."""

import contextlib
import ssl

ALERT_HANDSHAKE_FAILURE = bytes.fromhex("15030300020228")
"""A fatal alert record, handshake_failure (RFC 8446 §6)."""

READ_SIZE = 65_536
RECORD_HEADER = 5
RECORDS_LOGGED = 10


class TLSFailure(Exception):  # often the peer's decision
    """The handshake or a record was bad; `to_send` still has to go out."""


class TLSLayer:
    """TLS of one connection."""

    def __init__(self, context: ssl.SSLContext) -> None:
        context.sni_callback = remember_name
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._object = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self.is_secured = False
        self.is_ended = False
        self.handshake_bytes = 0
        self.ticket_bytes = 0
        self.record_bytes: list[int] = []
        """Sizes of the first records with application data, headers included."""

    @property
    def version(self) -> str | None:
        version = self._object.version()
        return version.replace("TLSv", "TLS ") if version else None

    @property
    def server_name(self) -> str | None:
        name: str | None = getattr(self._object, "asked_for", None)
        return name

    @property
    def protocol(self) -> str | None:
        return self._object.selected_alpn_protocol()

    @property
    def is_resumed(self) -> bool:
        return bool(self._object.session_reused)

    def receive(self, data: bytes) -> bytes:
        """Return the plaintext of `data`. Handshake bytes that it causes wait in `to_send`."""
        self._incoming.write(data)
        try:
            if not self.is_secured:
                self._object.do_handshake()
                self.is_secured = True
            return self._read()
        except ssl.SSLWantReadError:
            return b""
        except ssl.SSLError as exc:
            raise TLSFailure(exc.reason or str(exc)) from exc

    def _read(self) -> bytes:
        plaintext = bytearray()
        while True:
            try:
                piece = self._object.read(READ_SIZE)
            except ssl.SSLWantReadError:
                return bytes(plaintext)
            except ssl.SSLZeroReturnError:
                piece = b""
            if not piece:
                self.is_ended = True
                return bytes(plaintext)
            plaintext += piece

    def to_send(self) -> bytes:
        octets = self._outgoing.read()
        # OpenSSL writes TLS 1.3's tickets in the step that ends the handshake, and nothing else with them.
        if self.is_secured and self.version == "TLS 1.3":
            self.ticket_bytes += len(octets)
        else:
            self.handshake_bytes += len(octets)
        return octets

    def encrypt(self, plaintext: bytes) -> bytes:
        self._object.write(plaintext)
        octets = self._outgoing.read()
        at = 0
        while at < len(octets) and len(self.record_bytes) < RECORDS_LOGGED:
            self.record_bytes.append(
                RECORD_HEADER + int.from_bytes(octets[at + 3 : at + RECORD_HEADER], "big")
            )
            at += self.record_bytes[-1]
        return octets

    def close_notify(self) -> bytes:
        with contextlib.suppress(ssl.SSLError):
            self._object.unwrap()
        return self._outgoing.read()


def remember_name(connection: ssl.SSLObject | ssl.SSLSocket, name: str | None, _: ssl.SSLContext) -> None:
    """Keep SNI with its connection; Python's ssl passes it to this callback only."""
    connection.asked_for = name  # type: ignore[union-attr]
