"""Two circles of tests: what every change runs, and the larger samples that `scripts/test --all` runs as well."""

import os
from collections.abc import Sequence
from typing import TypeVar

import pytest
from _pytest.mark import ParameterSet

T = TypeVar("T")
ALL = bool(os.environ.get("FIRSTFLIGHT_TEST_ALL"))
"""Whether fixtures take their whole sample."""


def sample(cases: Sequence[T], every: int) -> list[T | ParameterSet]:
    """Parameters of a test, of which all but every n-th are marked `thorough`."""
    return [
        case if place % every == 0 else pytest.param(case, marks=pytest.mark.thorough)
        for place, case in enumerate(cases)
    ]
