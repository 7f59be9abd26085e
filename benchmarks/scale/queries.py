"""Researchers' questions over all months: the statements for DuckDB of docs/recipes.md, over S3 and over
a folder."""

import json
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from benchmarks.service.servers import BenchError, serve_s3
from releases.catalogue import releases
from releases.publish import publish

RECIPES = Path(__file__).parents[2] / "docs" / "recipes.md"
STATEMENT = re.compile(r"^```sql\n(.*?)^```$", re.DOTALL | re.MULTILINE)
BUCKET = "s3://bucket/releases"

QUESTIONS = ("shares", "raw rows")
"""What the statements of the recipes ask for, in their order."""

ASK = """
import json, sys, time, duckdb, duckdb_extensions
asked = json.load(sys.stdin)
with duckdb.connect(config={"extension_directory": asked["extensions"]}) as database:
    duckdb_extensions.import_extension("httpfs", con=database)
    for statement in asked["before"]:
        database.execute(statement)
    began = time.monotonic()
    rows = database.sql(asked["statement"]).fetchall()
    json.dump({"s": time.monotonic() - began, "rows": sorted(rows)}, sys.stdout)
"""
"""Asks one statement in a DuckDB of its own, which remembers nothing."""


def measure(folder: Path, python: str) -> dict[str, float]:
    """Return the seconds of each question over the releases of a folder, read from an S3 server on this
    machine and from the folder; BenchError if the answers differ.

    `python` has DuckDB with httpfs.
    """
    found = STATEMENT.findall(RECIPES.read_text(encoding="utf-8"))
    statements = dict(zip(QUESTIONS, (one for one in found if BUCKET in one), strict=True))
    seconds: dict[str, float] = {}
    with (
        tempfile.TemporaryDirectory(prefix="firstflight-bench-") as temporary,
        serve_s3(Path(temporary)) as url,
    ):
        for release in releases(folder):
            publish(release, url)
        for question, statement in statements.items():
            stored = statement.replace(BUCKET, "s3://releases")
            over_s3 = _ask(python, temporary, stored, before=[_secret(url)])
            here = _ask(python, temporary, statement.replace(BUCKET, str(folder)))
            if over_s3["rows"] != here["rows"] or not here["rows"]:
                raise BenchError(f"DuckDB answers {question} over S3 otherwise than over {folder}")
            seconds |= {f"{question}, over S3": over_s3["s"], f"{question}, from the folder": here["s"]}
    return {name: round(spent, 3) for name, spent in seconds.items()}


def _secret(url: str) -> str:
    parts = urlsplit(url)
    (endpoint,) = parse_qs(parts.query)["endpoint_override"]
    return (
        f"CREATE SECRET (TYPE s3, KEY_ID '{parts.username}', SECRET '{parts.password}', "
        f"REGION 'us-east-1', ENDPOINT '{endpoint}', URL_STYLE 'path', USE_SSL false)"
    )


def _ask(python: str, extensions: str, statement: str, before: Sequence[str] = ()) -> dict[str, Any]:
    asked = {"statement": statement, "before": before, "extensions": extensions}
    answer = subprocess.run(
        [python, "-c", ASK], input=json.dumps(asked), capture_output=True, text=True, check=False
    )
    if answer.returncode:
        raise BenchError(f"DuckDB failed: {answer.stderr.strip().splitlines()[-1]}")
    answered: dict[str, Any] = json.loads(answer.stdout)
    return answered
