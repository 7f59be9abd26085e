"""The notebook runs from its first to its last cell against a served demo, with DuckDB, pandas and Altair
alone."""

import ast
import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.api.rows.conftest import NAME, made_up, write_crawl
from tests.firstflight.commands.served import served

NOTEBOOK = Path(__file__).parents[2] / "docs/notebooks/first-look.ipynb"
CONTENT = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
CODE = ["".join(cell["source"]) for cell in CONTENT["cells"] if cell["cell_type"] == "code"]


def imported(code: str) -> set[str]:
    modules = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            modules |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(node.module or "")
    return {name.partition(".")[0] for name in modules}


def test_it_needs_duckdb_pandas_and_altair_alone() -> None:
    needed = set().union(*map(imported, CODE)) - sys.stdlib_module_names
    assert needed == {"duckdb", "pandas", "altair"}


def test_it_is_stored_without_outputs() -> None:
    cells = [cell for cell in CONTENT["cells"] if cell["cell_type"] == "code"]
    assert [cell for cell in cells if cell["outputs"] or cell["execution_count"] is not None] == []
    assert len({cell["id"] for cell in CONTENT["cells"]}) == len(CONTENT["cells"])


@pytest.mark.process
def test_it_runs_against_a_service_and_leaves_its_files(tmp_path: Path) -> None:
    releases = tmp_path / "data/releases"
    for month in ("2026-10", "2026-11"):
        write_crawl(releases, dataclasses.replace(NAME, month=month), made_up())
    environment = {
        "FIRSTFLIGHT_DATA_DIR": str(tmp_path / "data"),
        "FIRSTFLIGHT_CACHE_DIR": str(tmp_path / "cache"),
    }
    folder = tmp_path / "first-look"
    with served(environment) as address:
        variables = {"FIRSTFLIGHT_URL": address, "FIRSTFLIGHT_NOTEBOOK_FOLDER": str(folder)}
        run = subprocess.run(
            [sys.executable, "-"],
            input="\n\n".join(CODE),
            env={**os.environ, **variables},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert run.returncode == 0, run.stderr
    assert "rank 1: site1.test, 3 responses of known size, 16,100 bytes" in run.stdout
    months = duckdb.read_parquet(str(folder / "months.parquet")).fetchall()
    shares = {(month, segments): share for month, segments, share in months}
    # Each site has three responses of known size, of which one has 14,600 bytes and more.
    assert shares[("2026-11", 10)] == pytest.approx(2 / 3)
    assert shares[("2026-10", 30)] == 1
    assert {"CITE.txt", "cdf.json", "site.csv"} < {path.name for path in folder.iterdir()}
