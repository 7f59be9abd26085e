"""The recipes for Spark of docs/recipes.md read twelve releases as one table, and one by its address.

Only `scripts/test --spark` runs this file, as its name does not begin with `test`.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from schema.crawls import CrawlName
from tests.docs.recipes.conftest import MANY, STORE, Served, python_with, recipes, serving

WITHIN_S = 600
"""Time limit for Spark to start and to answer, in seconds."""

YEAR = tuple(CrawlName(month=f"2026-{month:02}") for month in range(1, 13))
LOCAL = (
    "--master local[2] --conf spark.ui.enabled=false --conf spark.driver.bindAddress=127.0.0.1 pyspark-shell"
)
"""Options for Spark on one machine, which listens on loopback alone."""


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    yield from serving(tmp_path_factory.mktemp("data"), YEAR)


def by_spark(code: str) -> Any:
    """What code leaves as `found`, by Spark in its own environment."""
    python = python_with("spark", option="--tests --spark")
    if shutil.which("java") is None:
        pytest.fail("Java is missing: run scripts/setup --tests --spark")
    environment = {**os.environ, "PYSPARK_SUBMIT_ARGS": LOCAL, "SPARK_LOCAL_IP": "127.0.0.1"}
    answer = subprocess.run(
        [python, "-c", f"import json\n{code}\nprint(json.dumps(found))"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def test_spark_reads_twelve_releases_as_one_table(year: Served) -> None:
    _, code = recipes()[f"{MANY}Spark"]
    code = code.replace(STORE.replace("s3:", "s3a:"), str(year.releases))
    shares = {crawl.month: year.share(crawl) for crawl in YEAR}
    assert len(set(shares.values())) == len(YEAR)
    assert by_spark(f"{code}\nfound = shares") == pytest.approx(shares, rel=1e-12)


def test_spark_reads_one_release_by_its_address(year: Served) -> None:
    code = year.snippets(YEAR[2])["Spark"]
    assert by_spark(f"{code}\nfound = share") == pytest.approx(year.share(YEAR[2]), rel=1e-12)
