"""Opaque cursors of pages: the key of the last row, bound to the release and to the filters.

A cursor is checked whole, and not secret: it says no more than "rows after this key",
which filters may ask as well.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Sequence

from api.http.problems import Problem

DIGEST_BYTES = 12
LONGEST = 200

MOST = 2**63

Key = tuple[int, ...]


def cursor_of(key: Key, *, bound_to: Sequence[object]) -> str:
    """The cursor of the rows after `key`, for requests with the same `bound_to`.

    >>> key_of(cursor_of((5, 7), bound_to=["a"]), parts=2, bound_to=["a"])
    (5, 7)
    """
    content = json.dumps(key, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_digest(content, bound_to) + content).decode().rstrip("=")


def key_of(cursor: str, *, parts: int, bound_to: Sequence[object]) -> Key:
    """The key of a cursor; Problem unless made for it."""
    try:
        whole = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as exc:
        raise _refused() from exc
    digest, content = whole[:DIGEST_BYTES], whole[DIGEST_BYTES:]
    if not hmac.compare_digest(digest, _digest(content, bound_to)):
        raise _refused()
    try:
        key = json.loads(content)
    except ValueError as exc:
        raise _refused() from exc
    is_key = isinstance(key, list) and all(type(part) is int and 0 <= part < MOST for part in key)
    # The last character of base64 has bits that say nothing, so that a key could be spelled in several ways.
    if not is_key or len(key) != parts or cursor_of(tuple(key), bound_to=bound_to) != cursor:
        raise _refused()
    return tuple(key)


def _digest(content: bytes, bound_to: Sequence[object]) -> bytes:
    return hashlib.sha256(repr(list(bound_to)).encode() + b"\n" + content).digest()[:DIGEST_BYTES]


def _refused() -> Problem:
    return Problem(
        "bad-parameter",
        "cursor: it is not from an answer to this question about this version of the release; follow `next` "
        "unchanged, or begin without it",
    )
