"""TLS settings of the zoo's server: version, chain, tickets, cipher."""

import ctypes
import dataclasses
import functools
import os
import ssl
from collections.abc import Callable, Sequence
from typing import Any, Literal

from cryptography.hazmat.primitives.asymmetric import rsa

from localweb.serving.certificates import Authority
from localweb.serving.tls import TLSLayer
from tests.zoo.serving.boringssl import BoringContext, BoringLayer
from tests.zoo.serving.odd_records import Odd, OddLayer, keep_secret
from tests.zoo.serving.post_quantum import PostQuantumLayer, post_quantum_context
from tests.zoo.serving.quic_handshake import compress_certificates, exchange_post_quantum

VERSIONS = {"TLS 1.2": ssl.TLSVersion.TLSv1_2, "TLS 1.3": ssl.TLSVersion.TLSv1_3}

CBC = "ECDHE-RSA-AES128-SHA"
"""The CBC suite that Chromium still offers wants an RSA key."""

INTERMEDIATE_BYTES = 2300
"""Bytes of padding in each intermediate certificate: four make a flight of more than 8 kB."""

SSL_CTRL_SET_MAX_SEND_FRAGMENT, SSL_CTRL_SET_TLSEXT_TICKET_KEYS = 52, 59
TICKET_KEYS_BYTES = 80
"""Name, key of the HMAC and key of the cipher."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Security:
    """TLS settings, the same for every host of a web."""

    version: Literal["TLS 1.2", "TLS 1.3"] = "TLS 1.3"
    intermediates: int = 0
    tickets: bool = True
    """Without tickets TLS 1.2 resumes by session id, and TLS 1.3 does not resume."""
    forgets: bool = False
    """Give tickets, and take none: a server of many that share no keys."""
    cbc: bool = False
    padding: int = 0
    """Pad each record to a multiple of so many bytes (RFC 8446 §5.4); 0 for no padding."""
    fragment: int = 0
    """Most bytes in a record, 512 or more; 0 for OpenSSL's 16,384."""
    curve: str = ""
    """The only curve of the key exchange; one that browsers send no share of makes a HelloRetryRequest."""
    asks_certificate: bool = False
    odd: Odd | None = None
    post_quantum: bool = False
    compressed: bool = False
    early_data: bool = False
    ech: bool = False
    browser_flags: tuple[str, ...] = ()
    """Flags of Chromium for what it does not do by itself."""

    def authority(self) -> Authority:
        leaf_key = rsa.generate_private_key(65_537, 2048) if self.cbc else None
        return Authority(intermediates=self.intermediates, padding=INTERMEDIATE_BYTES, leaf_key=leaf_key)

    def change_aioquic(self) -> None:
        """Make HTTP/3 in this process do the same, as far as it can."""
        if self.post_quantum:
            exchange_post_quantum()
        if self.compressed:
            compress_certificates()

    @property
    def layer(self) -> Callable[[Any], TLSLayer]:
        """Makes the TLS of one connection from what `context` returns."""
        if self.odd:
            return functools.partial(OddLayer, odd=self.odd)
        if self.post_quantum:
            return PostQuantumLayer
        if self.forgets:
            return ForgetfulLayer
        return BoringLayer if self._wants_boringssl else TLSLayer

    @property
    def _wants_boringssl(self) -> bool:
        return self.compressed or self.early_data or self.ech

    def context(self, authority: Authority, host: str, alpn: Sequence[str]) -> Any:
        if self.post_quantum:
            return post_quantum_context(authority, host, alpn)
        if self._wants_boringssl:
            features = {name: getattr(self, name) for name in ("compressed", "early_data", "ech")}
            return BoringContext(authority, host, alpn, **features)
        context = authority.context(host, alpn)
        context.minimum_version = context.maximum_version = VERSIONS[self.version]
        if self.cbc:
            context.set_ciphers(CBC)
        if not self.tickets:
            context.num_tickets = 0
            context.options |= ssl.OP_NO_TICKET
        if self.curve:
            context.set_ecdh_curve(self.curve)
        if self.asks_certificate:
            context.verify_mode = ssl.CERT_OPTIONAL
        self._shape_records(context)
        return context

    def _shape_records(self, context: ssl.SSLContext) -> None:
        """Set what Python's ssl has no name for."""
        libssl, pointer = _openssl(context)
        if self.odd:
            libssl.SSL_CTX_set_keylog_callback(pointer, keep_secret)
        if self.padding:
            assert libssl.SSL_CTX_set_block_padding(pointer, ctypes.c_size_t(self.padding))
        if self.fragment:
            size = ctypes.c_long(self.fragment)
            assert libssl.SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MAX_SEND_FRAGMENT, size, None)


class ForgetfulLayer(TLSLayer):
    """TLS of a connection whose server has new keys for its tickets."""

    def __init__(self, context: ssl.SSLContext) -> None:
        libssl, pointer = _openssl(context)
        keys, size = os.urandom(TICKET_KEYS_BYTES), ctypes.c_long(TICKET_KEYS_BYTES)
        assert libssl.SSL_CTX_ctrl(pointer, SSL_CTRL_SET_TLSEXT_TICKET_KEYS, size, keys)
        super().__init__(context)


def _openssl(context: ssl.SSLContext) -> tuple[ctypes.CDLL, ctypes.c_void_p]:
    """Return OpenSSL and its SSL_CTX*, which Python's object has right after its head."""
    return ctypes.CDLL("libssl.so.3"), ctypes.c_void_p.from_address(id(context) + object.__basicsize__)
