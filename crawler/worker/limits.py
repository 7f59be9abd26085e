"""Limits of a run: when it replaces a browser, and when it gives up the database."""

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Limits at which a run replaces a browser or gives up."""

    pages_per_browser: int = 200
    browser_memory_mb: int = 1500
    """Memory of all processes of one browser, between two visits."""
    database_retry_s: float = 300.0
    """Time for which an unreachable database is retried, in seconds."""


DEFAULTS = Limits()
