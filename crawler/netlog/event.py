"""One event of Chromium's NetLog, with its parameters and its bytes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Generic, NamedTuple, TypeVar, overload

Params_co = TypeVar("Params_co", bound=Mapping[str, object], covariant=True)

NO_SOURCE = -1


class Event(NamedTuple, Generic[Params_co]):
    """One event of the log; `params` is declared in `crawler.netlog.params`."""

    name: str
    """Event type, e.g. `SOCKET_BYTES_RECEIVED`."""
    phase: str
    """`BEGIN`, `END` or `NONE`."""
    source: int
    """Id of the socket, request or session that the event belongs to; never reused while a browser lives."""
    time_ms: int
    """On the monotonic clock, in the log's own milliseconds."""
    params: Params_co
    data: str = ""
    """Bytes, in Base64."""

    def content(self) -> bytes:
        try:
            return base64.b64decode(self.data)
        except (binascii.Error, ValueError):
            return b""

    def lazy_content(self) -> Encoded:
        return Encoded(self.data)

    @property
    def dependency(self) -> int:
        """The other source that the event names; NO_SOURCE if none."""
        other: Any = self.params.get("source_dependency")
        return other["id"] if other else NO_SOURCE


class Encoded:
    """Bytes in Base64; slices are decoded on demand, since most of the bytes are only counted.

    >>> some = Encoded("aGVsbG8=")
    >>> len(some), some[1:4], some[4]
    (5, b'ell', 111)
    """

    __slots__ = ("_size", "_text")

    def __init__(self, text: str) -> None:
        is_whole = len(text) % 4 == 0  # otherwise it is not Base64, and stands for no bytes
        self._text = text if is_whole else ""
        self._size = len(text) // 4 * 3 - text.endswith("=") - text.endswith("==") if is_whole else 0

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> bytes: ...
    def __getitem__(self, at: int | slice) -> int | bytes:
        """Return a byte or a slice; negative indexes and steps are not supported."""
        if not isinstance(at, slice):
            return (self[at : at + 1] or b"\0")[0]
        start, stop, _ = at.indices(self._size)
        first = start // 3
        try:
            piece = binascii.a2b_base64(self._text[first * 4 : -(-stop // 3) * 4])
        except (binascii.Error, ValueError):
            return b""
        return piece[start - first * 3 : stop - first * 3]


def split_endpoint(text: str) -> tuple[str, int]:
    """Return address and port of an endpoint as the log writes it.

    >>> split_endpoint("[2001:db8::1]:443")
    ('2001:db8::1', 443)
    """
    address, _, port = text.rpartition(":")
    return address.strip("[]"), int(port) if port.isdecimal() else 0
