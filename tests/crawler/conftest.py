"""Fixtures of the crawler's tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from firstflight.settings import from_environment

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def chromium() -> Path:
    """The browser of this machine."""
    return from_environment().chromium
