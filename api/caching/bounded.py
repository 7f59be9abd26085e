"""A memory of bounded size: whatever was asked for longest ago goes first."""

from __future__ import annotations

import collections
import threading
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

V = TypeVar("V")


class Bounded(Generic[V]):
    """Values by key, of at most `most` together; what is larger than that alone is not kept at all."""

    def __init__(self, most: int) -> None:
        """`most` in the unit of the sizes that `put` is told: bytes, or 1 for each value."""
        self._most = most
        self._held = 0
        self._values: collections.OrderedDict[Hashable, tuple[V, int]] = collections.OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> V | None:
        """The value; None if there is none."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, value: V, *, size: int) -> None:
        """Keep a value, and let go of others for it."""
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
