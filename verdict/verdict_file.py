"""verdict.json: the verdict as data, byte for byte equal for equal loads.

Policies are texts, and an interval has estimate, lower and upper, null where unknown or without bound.
"""

import functools
import json
import math
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from replay.errors import ReplayError
from storage.staging import put_file_in_place
from verdict.verdict import FORMAT_VERSION, Verdict

FILE = "verdict.json"

DIGITS = 6
"""Significant digits of a stored number, few enough to be the same with any linear algebra library."""


@functools.cache
def _adapter() -> TypeAdapter[Verdict]:
    return TypeAdapter(Verdict)


def to_data(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict as JSON has it, each number rounded to DIGITS significant digits."""
    data: dict[str, Any] = round_numbers(_adapter().dump_python(verdict, mode="json"))
    return data


def encode(verdict: Verdict) -> bytes:
    """Return the verdict as the file holds it, with sorted names."""
    text = json.dumps(to_data(verdict), indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def decode(stored: bytes) -> Verdict:
    """Return the verdict of a file; ReplayError if it is none of this format."""
    try:
        data = json.loads(stored)
        if data["format_version"] != FORMAT_VERSION:
            raise ReplayError(f"the verdict is of format {data['format_version']}, not {FORMAT_VERSION}")
        return _adapter().validate_python(data)
    except (ValidationError, ValueError, KeyError, TypeError) as exc:
        raise ReplayError(f"this is no verdict: {exc}") from exc


def write_verdict(folder: Path, verdict: Verdict) -> Path:
    """Write verdict.json, whole or not at all."""
    path = folder / FILE
    with put_file_in_place(path) as half:
        half.write_bytes(encode(verdict))
    return path


def round_numbers(value: Any) -> Any:  # noqa: ANN401  # any JSON
    """Return the value as JSON has it: floats of DIGITS significant digits, what is unknown or without bound
    as null, tuples as lists."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") + 0.0 if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: round_numbers(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [round_numbers(item) for item in value]
    return value
