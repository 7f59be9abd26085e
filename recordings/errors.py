"""Errors of reading recordings."""

from __future__ import annotations


class RecordingError(Exception):
    """A file or folder holds no recording that can be read; the message says what is wrong, and what to do."""
