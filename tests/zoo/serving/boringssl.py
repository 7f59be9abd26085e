"""TLS 1.3 by BoringSSL, which compresses certificates (RFC 8879), takes early data (RFC 8446 §2.3)
and knows Encrypted Client Hello (RFC 9849).

Debian has it for Android's tools. Its callback tells which records carry the handshake, and which tickets.
"""

import ctypes
import functools
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from localweb.serving.certificates import Authority
from localweb.serving.tls import READ_SIZE, RECORD_HEADER, RECORDS_LOGGED, TLSFailure, TLSLayer
from tests.zoo.serving.odd_records import APPLICATION_DATA, HANDSHAKE

FOLDER = Path("/usr/lib/x86_64-linux-gnu/android")
PACKAGE = "android-libboringssl"

HEADER = 0x100
"""Type by which the callback tells a record's header."""
SERVER_HELLO, NEW_SESSION_TICKET, COMPRESSED_CERTIFICATE = 2, 4, 25
EXPANSION = 17
"""Content type and tag of an encrypted record."""
WANT_READ, ZERO_RETURN = 2, 6
PEM = 1
ACCEPTED, REFUSED = 0, 3
"""What the callback of ALPN returns."""
LONGEST_NAME = 64
"""Length to which names are padded in ECH."""
BROTLI = 2
QUALITY, WINDOW = 11, 22

OCTETS = ctypes.POINTER(ctypes.c_ubyte)
INT, SIZE, ANY = ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p
COMPRESS = ctypes.CFUNCTYPE(INT, ANY, ANY, OCTETS, SIZE)
MESSAGE = ctypes.CFUNCTYPE(None, INT, INT, INT, OCTETS, SIZE, ANY, ANY)
SELECT = ctypes.CFUNCTYPE(INT, ANY, ctypes.POINTER(ANY), OCTETS, ANY, ctypes.c_uint, ANY)


@functools.cache
def libraries() -> tuple[Any, Any]:
    assert FOLDER.exists(), f"{FOLDER} is missing: apt-get install {PACKAGE}"
    crypto, tls = (ctypes.CDLL(str(FOLDER / name)) for name in ("libcrypto.so.0", "libssl.so.0"))
    for function in (
        *(tls.TLS_method, tls.SSL_CTX_new, tls.SSL_new, crypto.BIO_new, crypto.BIO_s_mem),
        *(tls.SSL_ECH_KEYS_new, crypto.EVP_HPKE_KEY_new, crypto.EVP_hpke_x25519_hkdf_sha256),
    ):
        function.restype = ANY
    for function in (tls.SSL_get_version, tls.SSL_get_servername):
        function.restype = ctypes.c_char_p
    return tls, crypto


def compress_with_brotli(content: bytes) -> bytes:
    """Compress by the library that Debian's curl uses too."""
    size = SIZE(2 * len(content) + 1000)
    compressed = ctypes.create_string_buffer(size.value)
    encode = ctypes.CDLL("libbrotlienc.so.1").BrotliEncoderCompress
    assert encode(QUALITY, WINDOW, 0, SIZE(len(content)), content, ctypes.byref(size), compressed)
    return compressed.raw[: size.value]


def _compress(_: int, out: int, content: Any, size: int) -> int:
    compressed = compress_with_brotli(ctypes.string_at(content, size))
    return int(libraries()[1].CBB_add_bytes(ANY(out), compressed, SIZE(len(compressed))))


compress = COMPRESS(_compress)


class BoringContext:
    """Settings of one host's connections, which resume each other's sessions."""

    def __init__(
        self,
        authority: Authority,
        host: str,
        alpn: Sequence[str],
        *,
        compressed: bool = False,
        early_data: bool = False,
        ech: bool = False,
    ) -> None:
        self.compressed, self.early_data = compressed, early_data
        tls, _ = libraries()
        self.pointer = ANY(tls.SSL_CTX_new(ANY(tls.TLS_method())))
        self._alpn = [name.encode() for name in alpn]
        self._select = SELECT(self._choose)
        with tempfile.NamedTemporaryFile(suffix=".pem") as file:
            file.writelines(authority.files(host))
            file.flush()
            assert tls.SSL_CTX_use_certificate_chain_file(self.pointer, file.name.encode())
            assert tls.SSL_CTX_use_PrivateKey_file(self.pointer, file.name.encode(), PEM)
        tls.SSL_CTX_set_alpn_select_cb(self.pointer, self._select, None)
        tls.SSL_CTX_set_early_data_enabled(self.pointer, int(early_data))
        if compressed:
            assert tls.SSL_CTX_add_cert_compression_alg(self.pointer, BROTLI, compress, None)
        if ech:
            self._add_ech_key(host)

    def _add_ech_key(self, public_name: str) -> None:
        """Take ECH, and send the configuration to clients that did not know it."""
        tls, crypto = libraries()
        key, config, size = ANY(crypto.EVP_HPKE_KEY_new()), ANY(), SIZE()
        assert crypto.EVP_HPKE_KEY_generate(key, ANY(crypto.EVP_hpke_x25519_hkdf_sha256()))
        named = (1, key, public_name.encode(), SIZE(LONGEST_NAME))
        assert tls.SSL_marshal_ech_config(ctypes.byref(config), ctypes.byref(size), *named)
        keys = ANY(tls.SSL_ECH_KEYS_new())
        assert tls.SSL_ECH_KEYS_add(keys, 1, config, size, key)
        assert tls.SSL_CTX_set1_ech_keys(self.pointer, keys)

    def _choose(self, _: int, chosen: Any, length: Any, offered: int, size: int, __: int) -> int:
        names, places, at = ctypes.string_at(offered, size), {}, 0
        while at < size:
            places[names[at + 1 : at + 1 + names[at]]] = at + 1
            at += 1 + names[at]
        for name in self._alpn:
            if name in places:
                chosen[0], length[0] = offered + places[name], len(name)
                return ACCEPTED
        return REFUSED


class BoringLayer(TLSLayer):
    """TLS of one connection."""

    def __init__(self, context: BoringContext) -> None:
        self._tls, self._crypto = libraries()
        self._context = context
        self._connection = ANY(self._tls.SSL_new(context.pointer))
        memory = ANY(self._crypto.BIO_s_mem())
        self._in, self._out = (ANY(self._crypto.BIO_new(memory)) for _ in range(2))
        self._tls.SSL_set_bio(self._connection, self._in, self._out)
        self._tls.SSL_set_accept_state(self._connection)
        self._callback = MESSAGE(self._wrote)
        self._tls.SSL_set_msg_callback(self._connection, self._callback)
        self._pending = {HANDSHAKE: 0, NEW_SESSION_TICKET: 0}
        """Bytes of handshake messages and of tickets that are not in a record yet."""
        self._kinds: set[int] = set()
        """Types of the handshake messages that were written."""
        self._is_sending = False
        self.is_secured = self.is_ended = False
        self.handshake_bytes = self.ticket_bytes = 0
        self.record_bytes = []

    def __del__(self) -> None:
        self._tls.SSL_free(self._connection)

    @property
    def version(self) -> str | None:
        version: bytes = self._tls.SSL_get_version(self._connection)
        return version.decode().replace("TLSv", "TLS ")

    @property
    def server_name(self) -> str | None:
        name: bytes | None = self._tls.SSL_get_servername(self._connection, 0)
        return name.decode() if name else None

    @property
    def protocol(self) -> str | None:
        chosen, size = ANY(), ctypes.c_uint()
        self._tls.SSL_get0_alpn_selected(self._connection, ctypes.byref(chosen), ctypes.byref(size))
        return ctypes.string_at(chosen, size.value).decode() if chosen else None

    @property
    def is_resumed(self) -> bool:
        return bool(self._tls.SSL_session_reused(self._connection))

    def receive(self, data: bytes) -> bytes:
        """Return the plaintext of `data`, early data too."""
        self._crypto.BIO_write(self._in, data, len(data))
        if not self.is_secured:
            self.is_secured = self._tls.SSL_do_handshake(self._connection) == 1
            self._check_features()
        plaintext = bytearray()
        piece = ctypes.create_string_buffer(READ_SIZE)
        while self.is_secured:
            size = self._tls.SSL_read(self._connection, piece, READ_SIZE)
            if size <= 0:
                break
            plaintext += piece.raw[:size]
        else:
            size = -1
        problem = self._tls.SSL_get_error(self._connection, size)
        self.is_ended = problem == ZERO_RETURN
        if problem not in (WANT_READ, ZERO_RETURN):
            raise TLSFailure(f"BoringSSL's error {problem}")
        return bytes(plaintext)

    def _check_features(self) -> None:
        """Assert that the client took what the server offers."""
        if self.is_secured and self.is_resumed:
            is_early = self._tls.SSL_in_early_data(self._connection)
            assert is_early or not self._context.early_data, "the client offers no early data"
        elif self.is_secured:
            is_compressed = COMPRESSED_CERTIFICATE in self._kinds
            assert is_compressed or not self._context.compressed, "the client takes no compressed certificate"

    def to_send(self) -> bytes:
        """Return handshake and ticket bytes that the last `receive` caused."""
        octets = ctypes.create_string_buffer(max(1, self._crypto.BIO_ctrl_pending(self._out)))
        size = self._crypto.BIO_read(self._out, octets, len(octets))
        return octets.raw[: max(0, size)]

    def encrypt(self, plaintext: bytes) -> bytes:
        self._is_sending = True
        assert self._tls.SSL_write(self._connection, plaintext, len(plaintext)) == len(plaintext)
        self._is_sending = False
        return self.to_send()

    def close_notify(self) -> bytes:
        self._tls.SSL_shutdown(self._connection)
        return self.to_send()

    def _wrote(self, is_written: int, _: int, kind: int, content: Any, size: int, *__: object) -> None:
        """Count a message, or the record that a header begins."""
        if not is_written:
            return
        if kind == HANDSHAKE:
            self._kinds.add(content[0])
        if kind == HANDSHAKE and content[0] != SERVER_HELLO:  # which is in the clear
            is_ticket = content[0] == NEW_SESSION_TICKET
            self._pending[NEW_SESSION_TICKET if is_ticket else HANDSHAKE] += size
        elif kind == HEADER:
            self._count_record(content[0], int.from_bytes(content[3:RECORD_HEADER], "big"))

    def _count_record(self, kind: int, length: int) -> None:
        whole, carried = RECORD_HEADER + length, length - EXPANSION
        if kind != APPLICATION_DATA:  # the record of a ServerHello, or of a change of ciphers
            self.handshake_bytes += whole
        elif self._pending[HANDSHAKE]:
            self.handshake_bytes += whole
            self._pending[HANDSHAKE] -= carried
        elif self._pending[NEW_SESSION_TICKET]:
            self.ticket_bytes += whole
            self._pending[NEW_SESSION_TICKET] -= carried
        elif self._is_sending and len(self.record_bytes) < RECORDS_LOGGED:
            self.record_bytes.append(whole)
