"""A cache of bounded size that drops the least recently used values first."""

from __future__ import annotations

import collections
import threading
from collections.abc import Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class Bounded(Generic[V]):
    """Values by key with a maximum total size; a single value larger than the maximum is not kept."""

    def __init__(self, most: int) -> None:
        """`most` is the maximum total size, in the unit of `put`'s sizes: bytes, or 1 per value."""
        self._most = most
        self._held = 0
        self._values: collections.OrderedDict[Hashable, tuple[V, int]] = collections.OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> V | None:
        """The value of `key`; None if it is not cached."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, value: V, *, size: int) -> None:
        """Cache a value, and drop the least recently used ones to make room."""
        with self._lock:
            _, before = self._values.pop(key, (None, 0))
            self._held -= before
            if size > self._most:
                return
            self._values[key] = (value, size)
            self._held += size
            while self._held > self._most:
                _, (_, gone) = self._values.popitem(last=False)
                self._held -= gone
