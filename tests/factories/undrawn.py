"""Reports without their drawings, for tests whose subject they are not."""

import contextlib
from collections.abc import Iterator

import pytest


@contextlib.contextmanager
def undrawn() -> Iterator[None]:
    """Build reports without coloured figures and without the brief, two thirds of a report's time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reports.document.report.draw", lambda *_, **__: {})
        patch.setattr("reports.document.report._write_brief", lambda *_: None)
        yield
