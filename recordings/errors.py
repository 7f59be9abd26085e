"""Errors of reading recordings."""


class RecordingError(Exception):
    """A file or folder holds no recording that can be read; the message says what is wrong,
    and what to do."""
