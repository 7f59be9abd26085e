"""Modes of the local web: which protocols its origins speak."""

import enum

SUFFIX = ".test"
"""Follows every recorded host, because Chromium's HSTS preload list knows many of the real names."""

MULTIPLEXED = frozenset({"spdy", "h2", "h3"})
"""Recorded protocols that are played as HTTP/2."""


class Mode(enum.StrEnum):
    """Mode of the whole local web."""

    H1 = "h1"
    """Clear HTTP/1.1 only; nothing answers https."""
    H1TLS = "h1tls"
    H2 = "h2"
    RECORDED = "recorded"
    """Each origin as recorded: clear, TLS with HTTP/1.1 only, or HTTP/2."""
