"""Over which protocols the local web is played, and the origins that follow from it."""

from __future__ import annotations

import enum
from typing import NamedTuple

SUFFIX = ".test"
"""Behind every recorded host: Chromium's HSTS preload list knows many of the real names."""

ALPN_H2 = "h2"
ALPN_HTTP1 = "http/1.1"

MULTIPLEXED = frozenset({"spdy", "h2", "h3"})
"""Recorded protocols that are played as H2."""


class Mode(enum.StrEnum):
    """One arm of the local web."""

    H1 = "h1"
    """All over clear HTTP/1.1; nothing answers https."""
    H1TLS = "h1tls"
    H2 = "h2"
    RECORDED = "recorded"
    """Each origin as recorded: clear, TLS with HTTP/1.1 alone, or H2."""


class Origin(NamedTuple):
    """Scheme and host; the port is always the scheme's own."""

    scheme: str
    host: str
    """With SUFFIX."""
