"""A service that streams rows keeps libraries out of its memory that only other parts of firstflight need."""

import re
import urllib.request
from pathlib import Path

import pytest

from tests.api.rows.conftest import CRAWL, RESPONSES, SITES
from tests.firstflight.commands.served import served

WITHIN_S = 60

NEEDLESS = {
    *("sqlalchemy", "alembic", "psycopg", "adbc_driver_manager", "adbc_driver_postgresql"),  # PostgreSQL
    *("altair", "vl_convert", "pandas", "polars", "narwhals", "PIL", "typst"),  # figures and reports
    "markdown_it",  # documents
    *("jsonschema", "ruamel", "yaml"),  # making and checking releases
    *("playwright", "dns", "cryptography"),  # crawling
    *("prometheus_client", "pytest"),
}
"""Packages that are only loaded where they are used."""


@pytest.mark.process
def test_streams_of_rows_in_every_format_load_no_library_of_other_parts(
    releases: Path, tmp_path: Path
) -> None:
    log = tmp_path / "imports"
    environment = {
        "FIRSTFLIGHT_DATA_DIR": str(releases.parent),
        "FIRSTFLIGHT_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPROFILEIMPORTTIME": "1",
    }
    with served(environment, log=log) as address:
        for suffix in ("csv", "ndjson", "arrow", "parquet"):
            url = f"{address}v1/responses.{suffix}?crawl={CRAWL}"
            with urllib.request.urlopen(url, timeout=WITHIN_S) as answer:
                body = answer.read()
            if suffix == "ndjson":
                assert len(body.splitlines()) == SITES * RESPONSES
    # An import that failed leaves the package's name in the list, but none of its modules.
    loaded = set(re.findall(r"^import time:.*\| +(\w+)\.\S+$", log.read_text(), re.MULTILINE))
    assert {"api", "pyarrow", "duckdb"} <= loaded
    assert loaded & NEEDLESS == set()
