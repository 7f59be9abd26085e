"""The recipes of docs/recipes.md, a service, and the S3 store that its releases are published to."""

import dataclasses
import hashlib
import html
import json
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import fs

from firstflight.settings import from_environment
from releases.catalogue import find_release, read_release
from releases.citation.work import cite_release
from releases.descriptions.croissant import CROISSANT, croissant
from releases.descriptions.tables import tables_in
from releases.publish import publish
from schema.computed_tables import ITEM
from schema.crawls import CrawlName
from tests.api.conftest import item_table, write_release_with_items
from tests.factories.made_up_release import make_release
from tests.firstflight.commands.served import address_of, served

PAGE = Path(__file__).parents[3] / "docs" / "recipes.md"
SITE = "https://sizes.example/"
STORE = "s3://bucket/releases"
REGION = "?region=eu-central-1"
CODE = re.compile(r"^```(python|sql)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SNIPPET = re.compile(r'<summary>([^<]*)</summary>.*?<code class="language-\w+">(.*?)</code>', re.DOTALL)
WITHIN_S = 60

NOVEMBER = CrawlName(month="2026-11")
OCTOBER = CrawlName(month="2026-10")
MOBILE = CrawlName(month="2026-11", device="mobile")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Served:
    """A service, and the folder of its releases."""

    address: str
    releases: Path

    def share(self, crawl: CrawlName) -> float:
        query = f"crawl={crawl}&version=1&iw=10&mss=1430"
        with urllib.request.urlopen(f"{self.address}v1/first-flight?{query}") as answer:
            share: float = json.load(answer)["share"]
        return share

    def placed(self, code: str) -> str:
        """Code with the address of this service in place of the page's."""
        return code.replace(SITE, self.address)

    def snippets(self, crawl: CrawlName) -> dict[str, str]:
        with urllib.request.urlopen(f"{self.address}releases/{crawl}/v1") as answer:
            page = answer.read().decode()
        return {heading: html.unescape(code) for heading, code in SNIPPET.findall(page)}


def items(*, smaller: int) -> pa.Table:
    """The items of `item_table`, more that fit, some of unknown size, and those of inner pages,
    which count nowhere."""
    response = {"measure": "responses", "rank": 1, "page_kind": "home", "protocol": "h2"}
    more = [
        *[{**response, "size_bytes": 14_300}] * smaller,
        *[{**response, "size_bytes": None}] * 17,
        *[{**response, "size_bytes": 1, "page_kind": "inner"}] * 1000,
    ]
    whole = pa.concat_tables([item_table(), pa.Table.from_pylist(more, schema=ITEM)])
    return whole.sort_by([("measure", "ascending"), ("size_bytes", "ascending"), ("rank", "ascending")])


def add_description(folder: Path, crawl: CrawlName) -> None:
    manifest = read_release(folder).manifest
    described = croissant(cite_release(manifest), tables_in(folder, manifest.files))
    (folder / CROISSANT).write_text(json.dumps(described))
    make_release(folder, crawl, rows=manifest.rows)


def serving(folder: Path, crawls: tuple[CrawlName, ...]) -> Iterator[Served]:
    """A service of made-up releases whose shares differ."""
    for smaller, crawl in enumerate(crawls, start=1):
        add_description(
            write_release_with_items(folder / "releases", crawl, items=items(smaller=100 * smaller)), crawl
        )
    environment = {"FIRSTFLIGHT_DATA_DIR": str(folder), "FIRSTFLIGHT_CACHE_DIR": str(folder / "cache")}
    with served(environment) as address:
        yield Served(address=address, releases=folder / "releases")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    yield from serving(tmp_path_factory.mktemp("data"), (OCTOBER, NOVEMBER, MOBILE))


def python_with(packages: str, *, option: str) -> Path:
    """The Python of the environment that scripts/setup makes of the locked
    list `packages` beside this file."""
    locked = Path(__file__).with_name(f"{packages}.txt").read_bytes()
    folder = from_environment().cache_dir / f"{packages}-{hashlib.sha256(locked).hexdigest()[:12]}"
    if not (folder / "installed").exists():
        pytest.fail(f"the packages of {packages}.txt are missing: run scripts/setup {option}")
    return folder / "bin" / "python"


@pytest.fixture(scope="session")
def readers() -> Path:
    return python_with("httpfs-and-s3", option="--tests")


@pytest.fixture(scope="module")
def store(service: Served, readers: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Host and port of an S3 server with the releases of `service`, which Amazon's variables lead to."""
    log = tmp_path_factory.mktemp("store") / "log"
    call = [str(readers), "-u", "-m", "moto.server", "--port", "0"]
    with log.open("w") as output, subprocess.Popen(call, stdout=output, stderr=output) as server:
        try:
            address = address_of(server, log)
            with pytest.MonkeyPatch.context() as patch:
                for name, value in {
                    "AWS_ACCESS_KEY_ID": "key",
                    "AWS_SECRET_ACCESS_KEY": "secret",
                    "AWS_REGION": "eu-central-1",
                    "AWS_ENDPOINT_URL": address,
                    "AWS_ALLOW_HTTP": "true",
                }.items():
                    patch.setenv(name, value)
                bucket, _ = fs.FileSystem.from_uri(f"{STORE}{REGION}&allow_bucket_creation=true")
                bucket.create_dir("bucket")
                for crawl in (OCTOBER, NOVEMBER, MOBILE):
                    publish(find_release(service.releases, str(crawl)), f"{STORE}{REGION}")
                yield address.removeprefix("http://").rstrip("/")
        finally:
            server.terminate()


def recipes() -> dict[str, tuple[str, str]]:
    by_name = {}
    for part in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        chapter, *sections = re.split(r"^### ", part, flags=re.MULTILINE)
        for section in sections:
            for language, code in CODE.findall(section):
                by_name[f"{chapter.splitlines()[0]}: {section.splitlines()[0]}"] = (language, code)
    return by_name


ONE = "One release, by URL: "
MANY = "Many months, from S3 or a folder: "
DISTRIBUTIONS = "Spark, the distributions from the items"


def run(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(code, str(PAGE), "exec"), names)
    return names


DUCKDB = """
import json, sys, duckdb, duckdb_extensions
asked = json.load(sys.stdin)
with duckdb.connect(config={"extension_directory": asked["extensions"]}) as database:
    duckdb_extensions.import_extension("httpfs", con=database)
    for statement in asked["before"]:
        database.execute(statement)
    json.dump(database.sql(asked["statement"]).fetchall(), sys.stdout)
"""
"""Installs the extension from its package, where a reader's DuckDB takes it from its makers' host,
and runs a statement."""


@pytest.fixture
def duckdb_rows(readers: Path, tmp_path: Path) -> Any:
    """A function that gives the rows of a statement by DuckDB with httpfs, after others."""

    def rows(statement: str, *before: str) -> list[list[Any]]:
        asked = {"statement": statement, "before": before, "extensions": str(tmp_path)}
        answer = subprocess.run(
            [readers, "-c", DUCKDB],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
            check=False,
        )
        assert answer.returncode == 0, answer.stderr
        answered: list[list[Any]] = json.loads(answer.stdout)
        return answered

    return rows
