"""TLS 1.3 with the key exchange X25519MLKEM768, by the OpenSSL that comes with Python's cryptography."""

import contextlib
import ssl
import tempfile
from collections.abc import Iterator, Sequence
from typing import cast

from OpenSSL import SSL
from OpenSSL._util import lib

from localweb.serving.certificates import Authority
from localweb.serving.tls import READ_SIZE, TLSLayer

GROUP = "X25519MLKEM768"


def post_quantum_context(authority: Authority, host: str, alpn: Sequence[str]) -> SSL.Context:
    """Return the settings of one host; OpenSSL itself prefers the key exchange."""
    names = [name.encode() for name in alpn]
    context = SSL.Context(SSL.TLS_SERVER_METHOD)
    context.set_min_proto_version(SSL.TLS1_3_VERSION)
    context.set_session_id(host.encode())
    context.set_alpn_select_callback(lambda _, offered: next(name for name in names if name in offered))
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        file.writelines(authority.files(host))
        file.flush()
        context.use_certificate_chain_file(file.name)
        context.use_privatekey_file(file.name)
    return context


class PostQuantumLayer(TLSLayer):
    """TLS of one connection."""

    def __init__(self, context: SSL.Context) -> None:
        super().__init__(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
        connection = SSL.Connection(context)
        connection.set_accept_state()
        self._object = cast("ssl.SSLObject", Spoken(connection))
        self._incoming, self._outgoing = (
            cast("ssl.MemoryBIO", kind(connection)) for kind in (Incoming, Outgoing)
        )


class Spoken:
    """The part of Python's SSLObject that the layer uses."""

    def __init__(self, connection: SSL.Connection) -> None:
        self._connection = connection

    def version(self) -> str:
        return self._connection.get_protocol_version_name()

    @property
    def asked_for(self) -> str | None:
        name = self._connection.get_servername()
        return name.decode() if name else None

    def selected_alpn_protocol(self) -> str:
        return self._connection.get_alpn_proto_negotiated().decode()

    @property
    def session_reused(self) -> bool:
        return bool(lib.SSL_session_reused(self._connection._ssl))

    def do_handshake(self) -> None:
        with _as_ssl():
            self._connection.do_handshake()
        group = self._connection.get_group_name()
        assert group == GROUP, f"the key exchange is {group}"

    def read(self, size: int) -> bytes:
        with _as_ssl():
            return self._connection.recv(size)

    def write(self, plaintext: bytes) -> None:
        self._connection.sendall(plaintext)

    def unwrap(self) -> None:
        with _as_ssl():
            self._connection.shutdown()


class Incoming:
    """What comes from the client."""

    def __init__(self, connection: SSL.Connection) -> None:
        self._connection = connection

    def write(self, data: bytes) -> None:
        self._connection.bio_write(data)


class Outgoing:
    """What goes to the client."""

    def __init__(self, connection: SSL.Connection) -> None:
        self._connection = connection

    def read(self) -> bytes:
        octets = bytearray()
        with contextlib.suppress(SSL.WantReadError):
            while True:
                octets += self._connection.bio_read(READ_SIZE)
        return bytes(octets)


@contextlib.contextmanager
def _as_ssl() -> Iterator[None]:
    try:
        yield
    except SSL.WantReadError as exc:
        raise ssl.SSLWantReadError from exc
    except SSL.ZeroReturnError as exc:
        raise ssl.SSLZeroReturnError from exc
    except SSL.Error as exc:
        raise ssl.SSLError(str(exc)) from exc
