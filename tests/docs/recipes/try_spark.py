"""The recipes for Spark of docs/recipes.md read twelve releases as one table, one by its address, and compute
the distributions of releases from parts of their items.

Only `scripts/test --spark` runs this file, as its name does not begin with `test`.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from recordings.pages.sets import AUGUST_2025
from releases.catalogue import releases
from schema.crawls import CrawlName
from tests.docs.recipes.conftest import DISTRIBUTIONS, MANY, STORE, Served, python_with, recipes, serving

WITHIN_S = 600

YEAR = tuple(CrawlName(month=f"2026-{month:02}") for month in range(1, 13))
PARTS = 5
SETS = {"2025-08": AUGUST_2025, "2023-11": "tranco-2023-11"}

COLUMNS = ("measure", "size_bytes", "count", "cumulative", "cdf")
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


def test_spark_computes_released_distributions_from_parts_of_the_items_to_the_last_digit(
    recorded_releases: Callable[[str], Path], tmp_path: Path
) -> None:
    expected = {}
    for month, name in SETS.items():
        release = next(releases(recorded_releases(name)))
        parts = CrawlName(month=month).path(tmp_path / "releases", version=1) / "item.parquet"
        parts.mkdir(parents=True)
        items = pq.read_table(release.file("item"))
        for number in range(PARTS):  # each has rows of every measure, and no order among the parts helps
            pq.write_table(
                items.take(list(range(number, len(items), PARTS))), parts / f"part-{number}.parquet"
            )
        steps = pq.read_table(release.file("distribution")).drop_null().to_pylist()
        expected[month] = sorted([step[column] for column in COLUMNS] for step in steps)
    assert min(map(len, expected.values())) > 10_000
    _, code = recipes()[MANY + DISTRIBUTIONS]
    code = code.replace(STORE.replace("s3:", "s3a:"), str(tmp_path / "releases"))
    collected = f"found = [[row.month, *(row[name] for name in {COLUMNS})] for row in steps.collect()]"
    computed: dict[str, list[Any]] = {month: [] for month in expected}
    for month, *step in by_spark(f"{code}\n{collected}"):
        computed[month].append(step)
    assert {month: sorted(steps) for month, steps in computed.items()} == expected
