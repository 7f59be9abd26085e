"""A cache of bounded size."""

import collections
import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from api.computing import current

V = TypeVar("V")


class Bounded(Generic[V]):
    """Values by key with a maximum total size; a single value larger than the maximum is not kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._values: collections.OrderedDict[Hashable, tuple[V, int]] = collections.OrderedDict()
        self._lock = threading.Lock()
        self._computing: weakref.WeakValueDictionary[Hashable, threading.Lock] = weakref.WeakValueDictionary()

    def kept(self, key: Hashable, compute: Callable[[], V], *, size: Callable[[V], int]) -> V:
        """The value of `key`, from the cache or else `compute`, once for all who want it."""
        value = self.get(key)
        if value is None:
            with self._lock:
                computing = self._computing.setdefault(key, threading.Lock())
            with computing:
                value = self.get(key)
                if value is None:
                    current().check()
                    value = compute()
                    self.put(key, value, size=size(value))
        return value

    def get(self, key: Hashable) -> V | None:
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def put(self, key: Hashable, value: V, *, size: int) -> None:
        """Cache a value, and drop the least recently used for room."""
        with self._lock:
            _, before = self._values.pop(key, (None, 0))
            self._size -= before
            if size > self._most:
                return
            self._values[key] = (value, size)
            self._size += size
            while self._size > self._most:
                _, (_, gone) = self._values.popitem(last=False)
                self._size -= gone
