"""Tells an exhausted machine from a damaged file: without a descriptor, nothing is known about a file."""

import errno
import os
from collections.abc import Iterator

NONE_LEFT = (errno.EMFILE, errno.ENFILE)
"""Error numbers of a process or machine without a descriptor left (open(2))."""


class Exhausted(Exception):
    """No descriptor is left to open a file with."""


def is_exhaustion(exc: BaseException) -> bool:
    """Return true if an exception, or one that it was raised from, says that no descriptor was left.

    >>> is_exhaustion(OSError(errno.EMFILE, "many")), is_exhaustion(OSError(errno.ENOENT, "none"))
    (True, False)
    """
    return any(
        isinstance(error, Exhausted)
        or getattr(error, "errno", None) in NONE_LEFT
        or os.strerror(errno.EMFILE) in str(error)  # DuckDB's and Arrow's errors have no number
        for error in _chain(exc)
    )


def _chain(exc: BaseException | None) -> Iterator[BaseException]:
    while exc is not None:
        yield exc
        exc = exc.__cause__


def reraise_exhaustion(exc: BaseException) -> None:
    """Raise Exhausted from `exc` if no descriptor was left; for handlers that would take `exc` for damage."""
    if is_exhaustion(exc):
        raise Exhausted("no descriptor is left: raise the limit (ulimit -n), or try again later") from exc
