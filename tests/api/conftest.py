"""A small library made on the spot: two crawls, one of them in two versions, and one report."""

import contextlib
import dataclasses
import datetime
import functools
import json
import math
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from fastapi import routing
from fastapi.testclient import TestClient

from api.app import create_app
from api.lab.queue import Queue
from releases.strata.items import compute_distribution
from schema.computed_tables import ITEM
from schema.crawls import CrawlName
from storage.progress import Bound, Disk, Failure, Gated, Hour, Lane, Progress, write_progress
from storage.report_versions import Publication
from storage.sums import seal
from tests.conftest import built_once
from tests.factories.made_up_release import make_release
from tests.factories.made_up_replay import at_once
from tests.factories.made_up_report import build_report, data_folder, populations, read_data_folder
from tests.factories.published_report import CITABLE, SECOND, write_version

HOUR = datetime.timedelta(hours=1)

SIZES = {"responses": [100, 4290, 4291, 14_300, 14_301, 50_000, 50_000, 600_000], "pages": [600_000]}
"""Known sizes by measure; every other measure has none."""
SIZES["responses_incomplete"] = [500, 700]

UNKNOWN = {"responses": 2}

REPORT = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Report 2026</title>
<meta name="viewport" content="width=device-width"><style>h1 { color: green }</style></head>
<body><h1>Report of 2026</h1><p>Recommended: no change.</p></body></html>"""


def item_table(*, sites: int = 30, unknown: Mapping[str, int] = {}) -> pa.Table:
    """The sizes of SIZES at each of as many sites, which differ by one byte a site;
    every second response is over H2.

    `unknown` sizes are added by measure.
    """
    rows = [
        {
            "measure": measure,
            "size_bytes": None if size is None else size + rank,
            "rank": rank,
            "page_kind": "home",
            "rank_stratum": 1000 if rank <= sites // 2 else 10_000,
            "protocol": None if measure == "pages" else ("h2", "http/1.1")[place % 2],
            "resource_type": "image" if measure.startswith("responses") else None,
            "party": None if measure == "pages" else "first",
        }
        for rank in range(sites)
        for measure, sizes in SIZES.items()
        for place, size in enumerate([*sizes, *[None] * unknown.get(measure, 0)])
    ]
    rows.sort(key=lambda row: (row["measure"], row["size_bytes"] or math.inf, row["rank"]))
    return pa.Table.from_pylist(rows, schema=ITEM)


def write_release_with_items(
    root: Path,
    crawl: CrawlName,
    *,
    version: int = 1,
    items: pa.Table | None = None,
    others: Mapping[str, Path] | None = None,
    **facts: Any,
) -> Path:
    """A release whose distribution is that of its items, `item_table` unless they are given.

    `others` are files by their names.
    """
    folder = crawl.path(root, version=version)
    folder.mkdir(parents=True)
    table = item_table() if items is None else items
    pq.write_table(table, folder / "item.parquet")
    ranks = pc.unique(table["rank"])
    hosts = [f"site{rank}.test" for rank in ranks.to_pylist()]
    pq.write_table(pa.table({"rank": ranks, "host": hosts}), folder / "site.parquet")
    pq.write_table(pa.concat_tables(compute_distribution(folder)), folder / "distribution.parquet")
    (folder / "dictionary.json").write_text("{}\n")
    for name, other in (others or {}).items():
        shutil.copyfile(other, folder / name)
    return make_release(folder, crawl, version=version, **{"rows": {"visit": 30}, **facts}).path


def write_release(root: Path, crawl: CrawlName, *, version: int, **facts: Any) -> Path:
    """A release of the items of one site, with exactly the sizes of SIZES and UNKNOWN."""
    rows = {"crawl": 1, "visit": 30, "connection": 200, "response": 10, **facts.pop("rows", {})}
    return write_release_with_items(
        root, crawl, version=version, items=item_table(sites=1, unknown=UNKNOWN), rows=rows, **facts
    )


def running(at: datetime.datetime) -> Progress:
    """A quarter of a crawl, as its crawlers report it."""
    return Progress(
        crawl="2026-12.desktop.local.tcp.web",
        at=at,
        planned=10_000,
        done=2500,
        visits=2600,
        received_bytes=6_000_000_000,
        visits_per_hour=1800.4,
        minutes_left=260,
        outcomes={"ok": 2400, "dns": 100},
        planned_at=at - 3 * HOUR,
        claimed=8,
        postponed=1,
        hours=tuple(
            Hour(at=(at - back * HOUR).replace(minute=0), outcomes={"ok": 800, "dns": 30, "crash": back})
            for back in (2, 1, 0)
        ),
        lanes=(Lane(name="crawler1/4711", claimed=8, visits=830, failed=30, last_at=at),),
        failures=(
            Failure(
                at=at,
                rank=2511,
                attempt=2,
                outcome="dns",
                error="net::ERR_NAME_NOT_RESOLVED",
                lane="crawler1/4711",
            ),
        ),
        bounds=(
            Bound(name="visited", limit=1.0, is_least=True, share=0.25),
            Bound(name="unresolved", limit=0.15, is_least=False, share=0.04),
        ),
        disk=Disk(free=30_000_000_000, size=400_000_000_000, database=900_000_000),
    )


def sealed(progress: Progress, failures: tuple[str, ...] = ()) -> Progress:
    """The last progress of a crawl of the month before."""
    return dataclasses.replace(
        progress,
        crawl=progress.crawl.replace("2026-12", "2026-11"),
        done=progress.planned,
        outcomes={"ok": 9500, "dns": 500},
        minutes_left=None,
        claimed=0,
        sealed_at=progress.at - 600 * HOUR,
        gated=Gated(at=progress.at - 601 * HOUR, failures=failures),
    )


def write_library(root: Path) -> Path:
    """Write releases, a report and the progress of a crawl, which a service shows,
    and a file which it does not."""
    releases = root / "releases"
    write_release(releases, CrawlName(month="2026-10", kind="localweb"), version=1)
    for version in (1, 2):
        write_release(releases, CrawlName(month="2026-11", kind="localweb"), version=version)
    write_release(releases, CrawlName(month="2026-11", device="mobile", kind="web"), version=1)
    report = root / "reports/2026/v1"
    (report / "figures").mkdir(parents=True)
    (report / "index.html").write_text(REPORT)
    (report / "report.json").write_text(json.dumps({"year": 2026, **CITABLE}))
    (report / "summary.txt").write_text("no change\n")
    (report / "figures/cdf.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    seal(report, {"kind": "report", "year": 2026})
    progress = running(datetime.datetime(2026, 12, 1, 6, 30, tzinfo=datetime.UTC))
    write_progress(root / "progress", progress)
    write_progress(root / "progress", sealed(progress, ("13 % of the names did not resolve",)))
    (root / "secret.txt").write_text("not to be served")
    return root


@contextlib.contextmanager
def serving(releases: Path, **options: Any) -> Iterator[TestClient]:
    """A client of the service over a folder of releases, and the reports beside it."""
    app = create_app(releases, releases.parent / "reports", looked_at_every_s=0, **options)
    address = options.get("base_url", "http://testserver")
    with TestClient(app, address, raise_server_exceptions=False) as client:
        yield client


def serving_library(root: Path) -> contextlib.AbstractContextManager[TestClient]:
    """A client of a service over the library in a folder."""
    return serving(root / "releases", progress=root / "progress", lab=Queue(at_once))


@pytest.fixture(scope="session", autouse=True)
def routes_read_once() -> Iterator[None]:
    """Have FastAPI read the parameters of each route once for all applications: an application reads those of
    all routes when it is first asked, which takes longer than most tests."""
    name = "_build_dependant_with_parameterless_dependencies"
    read = getattr(routing, name)
    cached = functools.cache(
        lambda path, call, dependencies: read(path=path, call=call, dependencies=dependencies)
    )
    with mock.patch.object(
        routing, name, lambda *, path, call, dependencies: cached(path, call, tuple(dependencies))
    ):
        yield


@pytest.fixture(scope="session")
def made_up_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a library that no test changes."""
    return write_library(tmp_path_factory.mktemp("library"))


@pytest.fixture
def data_dir(made_up_library: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made_up_library, tmp_path, dirs_exist_ok=True)


@pytest.fixture
def two(data_dir: Path) -> Path:
    year = data_dir / "reports" / "2025"
    write_version(year, Publication(date="2026-01-15"))
    write_version(year, SECOND)
    return year


@pytest.fixture(scope="session")
def whole_report(shared_folder: Path) -> Path:
    """The folder of a report that is evidence, with its page and all forms, which no test changes."""

    def build(stage: Path) -> None:
        data_folder(stage, kind="web", populations=populations(measured="2026-11"))
        build_report(read_data_folder(stage), stage / "reports" / "2026" / "v1")

    return built_once(shared_folder / "whole-report", build) / "reports" / "2026" / "v1"


@pytest.fixture(scope="session")
def shared_client(made_up_library: Path) -> Iterator[TestClient]:
    with serving_library(made_up_library) as client:
        yield client


@pytest.fixture
def own_client(data_dir: Path) -> Iterator[TestClient]:
    with serving_library(data_dir) as client:
        yield client


def own_or_shared(request: pytest.FixtureRequest, own: str, shared: str) -> TestClient:
    """The client of one fixture for a test that may change its library or the code,
    and else that of the other."""
    is_changing = {"tmp_path", "monkeypatch"} & set(request.fixturenames)
    client: TestClient = request.getfixturevalue(own if is_changing else shared)
    return client


@pytest.fixture
def client(request: pytest.FixtureRequest) -> TestClient:
    """A client of a service over the library: the test's own, or the one that all tests share."""
    return own_or_shared(request, "own_client", "shared_client")
