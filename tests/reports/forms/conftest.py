"""A report of made-up pages, built once with all its forms."""

from pathlib import Path
from typing import Any

import pytest

from reports.document.report import build_report
from tests.factories.made_up_report import data_folder, read_data_folder


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Folder and content of the report."""
    data_dir = tmp_path_factory.mktemp("forms")
    data_folder(data_dir)
    folder = data_dir / "reports" / "2026"
    return folder, build_report(read_data_folder(data_dir), folder, commit="c0ffee")
