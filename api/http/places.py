"""Places for what takes long, of which each client has a share."""

import collections
import contextlib
from collections.abc import Callable, Iterator

from api.http.problems import Problem


class Places:
    """Places of which each client has a share."""

    def __init__(self, most: int, each: int, refuse: Callable[[], Problem]) -> None:
        """There are `most`, `each` of one client at most; `refuse` makes the problem of who gets none."""
        self._most = most
        self._each = each
        self._refuse = refuse
        self._taken: collections.Counter[str] = collections.Counter()

    @contextlib.contextmanager
    def take(self, client: str) -> Iterator[int]:
        """Hold a place within the block; yields how many the client has. Problem if there is none for it."""
        if self._taken.total() >= self._most or self._taken[client] >= self._each:
            raise self._refuse()
        self._taken[client] += 1
        try:
            yield self._taken[client]
        finally:
            self._taken[client] -= 1
            if not self._taken[client]:
                del self._taken[client]
