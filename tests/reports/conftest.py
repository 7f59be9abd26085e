"""A report of made-up pages with all its forms."""

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def built(made_up_report: Path) -> tuple[Path, dict[str, Any]]:
    folder = made_up_report / "reports" / "2026" / "v1"
    return folder, json.loads((folder / "report.json").read_bytes())
