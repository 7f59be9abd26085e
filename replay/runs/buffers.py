"""Buffers at both ends of a connection: how clients take what servers send,
and what servers give TCP ahead of what it sends."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Receiver:
    """The receiver of a load: how a client takes what servers send."""

    first_window: int
    """First receive window in segments of 1,460 bytes; 0: 16 MB, which limit nothing. From the first data on
    it grows as Linux's, which doubles it with what arrives."""
    delays_acknowledgements: bool = False
    """True if every second segment is acknowledged from the first on, and a single one after 40 ms (RFC 5681
    §4.2). Linux acknowledges each of the first segments, and of those that raise the window, unless the
    client has just sent something.
    """


UNLIMITED_RECEIVER = "unlimited"
RECEIVERS = {
    UNLIMITED_RECEIVER: Receiver(first_window=0),
    "linux": Receiver(first_window=44),
    "android": Receiver(first_window=60),
    "windows": Receiver(first_window=44, delays_acknowledgements=True),
}
"""Values of the column `receiver`. Linux has 64,240 bytes by its default buffers (tcp_rmem), and Windows
about as much, 64 kB; Android sets 60 segments (net.tcp.default_init_rwnd). Windows' template for the Internet
has DelayedAckFrequency 2 and DelayedAckTimeout 40 ms."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SendBuffer:
    """The data that a server gives TCP ahead of what TCP sends. Responses asked for later go behind it."""

    most_unsent: int
    """Bytes over HTTP/2 beyond what was sent (TCP_NOTSENT_LOWAT); 0: as many as the send buffer holds."""
    first_bytes: int = 0
    """First send buffer, which grows with the congestion window; 0: 16 MB, which limit nothing."""


USUAL_SEND_BUFFER, LINUX_SEND_BUFFER = "64k", "linux"
SEND_BUFFERS = {
    USUAL_SEND_BUFFER: SendBuffer(most_unsent=65_536),
    "16k": SendBuffer(most_unsent=16_384),
    LINUX_SEND_BUFFER: SendBuffer(most_unsent=0, first_bytes=16_384),
}
"""Values of the column `send_buffer`. Large content networks limit what is unsent to 16 kB
(net.ipv4.tcp_notsent_lowat). Linux itself does not: its buffer begins with 16 kB (tcp_wmem) and holds twice
the congestion window once the connection is there."""


def receiver_commands(name: str) -> Iterator[str]:
    receiver = RECEIVERS[name]
    yield f"receive-window {receiver.first_window}"
    yield f"delayed-acknowledgements {'on' if receiver.delays_acknowledgements else 'off'}"


def send_buffer_command(name: str) -> str:
    buffer = SEND_BUFFERS[name]
    return f"send-buffer {buffer.most_unsent} {buffer.first_bytes}"
