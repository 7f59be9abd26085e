"""Parameters of the events that are read, by event and phase, as Chromium's NetLog writes them.

The reader decodes what is declared here and nothing else. It counts an event that lacks a required key, or
has a value of another type, as a line that cannot be read.
"""
# Without `from __future__ import annotations`: under it,
# NotRequired does not reach `__required_keys__` in Python 3.11.

from collections.abc import Mapping
from typing import NotRequired, TypeAlias, TypedDict

Number: TypeAlias = int | str
"""A 64-bit number (Chromium's NetLogNumberValue): a string from 2^53 on, or for "no number"."""


class Dependency(TypedDict):
    """Another source that the event names."""

    id: int


class NoParams(TypedDict):
    """Parameters that every event may have."""

    bytes: NotRequired[str]
    source_dependency: NotRequired[Dependency]


class OperationEnd(NoParams):
    """The end of an operation."""

    net_error: NotRequired[int]


class ByteCount(NoParams):
    """Bytes that were read."""

    byte_count: int


class DecodedBytes(TypedDict):
    """Bytes of a body as the page gets them; they are only counted."""

    byte_count: int


class Headers(NoParams):
    """A header section, a string a line."""

    headers: list[str]


class ConnectJob(NoParams):
    """A socket pool's job to open a connection."""

    group_id: str


class ConnectAttempt(NoParams):
    """The beginning of TCP's handshake."""

    address_list: list[str]


class Connected(NoParams, total=False):
    """The end of TCP's handshake; without addresses if it failed."""

    local_address: str
    remote_address: str


class Secured(NoParams, total=False):
    """The end of a TLS handshake; empty if it failed."""

    version: str
    cipher_suite: int
    is_resumed: bool
    next_proto: str


class HandshakeMessage(NoParams):
    """A TLS handshake message, with its bytes."""

    type: int


class RequestStart(NoParams):
    """A request as the browser begins it."""

    url: str
    method: str
    request_type: str


class InternalRedirect(NoParams):
    """A redirect that the browser makes up."""

    reason: str


class Http1Request(Headers):
    """A request over HTTP/1.1."""

    line: str


class QuicRequest(Headers):
    """A request that goes out on a QUIC stream."""

    quic_stream_id: int


class QuicSession(NoParams):
    """A new QUIC session."""

    host: str
    port: int


class WebTransport(NoParams):
    """A new WebTransport session, on a QUIC connection of its own."""

    url: str


class Address(NoParams):
    """An end of a socket."""

    address: str


class UdpBytes(TypedDict):
    """A UDP datagram; its bytes are only counted."""

    byte_count: int
    address: NotRequired[str]


class Datagram(NoParams):
    """A UDP datagram with packets."""

    self_address: str
    peer_address: str
    size: int


class PacketHeader(NoParams):
    """The header of a QUIC packet."""

    header_format: str
    packet_number: Number


class SentPacket(NoParams):
    """A QUIC packet that the browser sends."""

    packet_number: Number
    encryption_level: NotRequired[str]


class DroppedPacket(NoParams):
    """A QUIC packet that cannot be decrypted."""

    encryption_level: NotRequired[str]


class CryptoFrame(NoParams):
    """CRYPTO (RFC 9000 §19.6), with its bytes."""

    encryption_level: str
    offset: int
    data_length: int


class StreamFrame(NoParams):
    """STREAM (RFC 9000 §19.8)."""

    stream_id: int
    offset: int
    length: int
    fin: bool


class AckFrame(NoParams):
    """ACK (RFC 9000 §19.3)."""

    largest_observed: Number
    missing_packets: list[Number]


class PaddingFrame(NoParams):
    """PADDING (RFC 9000 §19.1), adjacent frames together."""

    num_padding_bytes: int


class NewTokenFrame(NoParams):
    """NEW_TOKEN (RFC 9000 §19.7)."""

    token: str


class MessageFrame(NoParams):
    """DATAGRAM (RFC 9221)."""

    message_length: int


class CloseFrame(NoParams):
    """CONNECTION_CLOSE (RFC 9000 §19.19)."""

    details: str


class OfStream(NoParams):
    """An event of one HTTP/2 or QUIC stream."""

    stream_id: int


class Http3HeadersFrame(OfStream):
    """The header of an HTTP/3 HEADERS frame."""

    compressed_headers_length: int


class Http2Request(OfStream):
    """A request over HTTP/2, with the priority in its HEADERS frame."""

    has_priority: NotRequired[bool]
    weight: NotRequired[int]
    parent_stream_id: NotRequired[int]
    exclusive: NotRequired[bool]


class StreamHeaders(Headers, OfStream):
    """A header section of one stream."""


class Http3Frame(OfStream):
    """The header of an HTTP/3 frame."""

    payload_length: int


class Http3UnknownFrame(Http3Frame):
    """The header of an HTTP/3 frame of a type that the browser does not know."""

    frame_type: int


class CookieAdded(NoParams):
    """A cookie that was set."""

    name: str


PARAMS: Mapping[tuple[str, str], type] = {
    ("SOCKET_POOL_CONNECT_JOB_CREATED", "NONE"): ConnectJob,
    ("TCP_CONNECT", "BEGIN"): ConnectAttempt,
    ("TCP_CONNECT", "END"): Connected,
    ("SSL_CONNECT", "END"): Secured,
    ("SSL_HANDSHAKE_MESSAGE_RECEIVED", "NONE"): HandshakeMessage,
    ("SOCKET_BYTES_RECEIVED", "NONE"): ByteCount,
    ("SSL_SOCKET_BYTES_RECEIVED", "NONE"): ByteCount,
    ("URL_REQUEST_START_JOB", "BEGIN"): RequestStart,
    ("URL_REQUEST_START_JOB", "END"): OperationEnd,
    ("URL_REQUEST_REDIRECT_JOB", "NONE"): InternalRedirect,
    ("SSL_SOCKET_BYTES_SENT", "NONE"): ByteCount,
    ("TCP_CONNECT_ATTEMPT", "END"): OperationEnd,
    ("HTTP_TRANSACTION_SEND_REQUEST_HEADERS", "NONE"): Http1Request,
    ("HTTP_TRANSACTION_HTTP2_SEND_REQUEST_HEADERS", "NONE"): Headers,
    ("HTTP_TRANSACTION_QUIC_SEND_REQUEST_HEADERS", "NONE"): QuicRequest,
    ("HTTP_TRANSACTION_READ_RESPONSE_HEADERS", "NONE"): Headers,
    ("URL_REQUEST_JOB_FILTERED_BYTES_READ", "NONE"): DecodedBytes,
    ("HTTP_CACHE_READ_INFO", "END"): OperationEnd,
    ("IN_MEMORY_CACHE_READ_RESPONSE_HEADERS", "NONE"): OperationEnd,
    ("IN_MEMORY_CACHE_READ_RESPONSE_HEADERS", "END"): OperationEnd,
    ("REQUEST_ALIVE", "END"): OperationEnd,
    ("FAILED", "NONE"): OperationEnd,
    ("HTTP2_SESSION_SEND_HEADERS", "NONE"): Http2Request,
    ("HTTP2_SESSION_RECV_HEADERS", "NONE"): StreamHeaders,
    ("QUIC_SESSION", "BEGIN"): QuicSession,
    ("QUIC_SESSION_WEBTRANSPORT_CLIENT_ALIVE", "BEGIN"): WebTransport,
    ("UDP_LOCAL_ADDRESS", "NONE"): Address,
    ("UDP_BYTES_RECEIVED", "NONE"): UdpBytes,
    ("QUIC_SESSION_PACKET_SENT", "NONE"): SentPacket,
    ("QUIC_SESSION_STREAM_FRAME_SENT", "NONE"): StreamFrame,
    ("QUIC_SESSION_STREAM_FRAME_COALESCED", "NONE"): StreamFrame,
    ("QUIC_SESSION_PACKET_RECEIVED", "NONE"): Datagram,
    ("QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED", "NONE"): PacketHeader,
    ("QUIC_SESSION_DROPPED_UNDECRYPTABLE_PACKET", "NONE"): DroppedPacket,
    ("QUIC_SESSION_CRYPTO_FRAME_RECEIVED", "NONE"): CryptoFrame,
    ("QUIC_SESSION_STREAM_FRAME_RECEIVED", "NONE"): StreamFrame,
    ("QUIC_SESSION_ACK_FRAME_RECEIVED", "NONE"): AckFrame,
    ("QUIC_SESSION_PADDING_FRAME_RECEIVED", "NONE"): PaddingFrame,
    ("QUIC_SESSION_NEW_TOKEN_FRAME_RECEIVED", "NONE"): NewTokenFrame,
    ("QUIC_SESSION_MESSAGE_FRAME_RECEIVED", "NONE"): MessageFrame,
    ("QUIC_SESSION_CONNECTION_CLOSE_FRAME_RECEIVED", "NONE"): CloseFrame,
    ("QUIC_SESSION_STOP_SENDING_FRAME_SENT", "NONE"): OfStream,
    ("HTTP3_HEADERS_SENT", "NONE"): OfStream,
    ("HTTP3_DATA_SENT", "NONE"): Http3Frame,
    ("HTTP3_HEADERS_RECEIVED", "NONE"): Http3HeadersFrame,
    ("HTTP3_HEADERS_DECODED", "NONE"): StreamHeaders,
    ("HTTP3_DATA_FRAME_RECEIVED", "NONE"): Http3Frame,
    ("HTTP3_UNKNOWN_FRAME_RECEIVED", "NONE"): Http3UnknownFrame,
    ("COOKIE_STORE_COOKIE_ADDED", "NONE"): CookieAdded,
}
"""Events and phases that are not here have NoParams."""


def number(value: Number) -> int:
    """Return the number; 0 where the log has none."""
    return value if isinstance(value, int) else 0
