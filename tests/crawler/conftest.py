"""Fixtures of the crawler's tests."""

from pathlib import Path

import pytest

from firstflight.settings import from_environment


@pytest.fixture(scope="session")
def chromium() -> Path:
    return from_environment().chromium
