"""Two circles of tests: what every change runs, and the larger samples that
`scripts/test --all` runs as well."""

import os
from typing import Any

import pytest

ALL = bool(os.environ.get("FIRSTFLIGHT_TEST_ALL"))


def thorough(*values: object) -> list[Any]:
    """Return values of a test's parameter that only `scripts/test --all` takes."""
    return [pytest.param(value, marks=pytest.mark.thorough) for value in values]
