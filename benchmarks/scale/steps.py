"""The steps of a crawl and its release, each a process of its own that runs the product's code.

python -m benchmarks.scale.steps STEP FOLDER SITES
"""

import json
import resource
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, func, select, text

from benchmarks.scale import bare
from benchmarks.scale.web import Web, site_list
from benchmarks.service.servers import BenchError, serve_s3
from crawler.campaign.gate import Bounds, count_ends, describe_broken_bounds, find_clustered_failures
from crawler.campaign.plan import CrawlPlan, plan
from crawler.campaign.seal import seal
from crawler.worker.claims import claim_site, count_open_sites, store_visit
from releases.build import build
from releases.catalogue import find_release
from releases.publish import publish
from releases.verify import verify
from schema.crawls import CrawlName
from schema.tables import Crawl, Visit
from storage.crawls import find_crawl
from storage.engine import DatabaseError, connect
from storage.migrate import upgrade

NAME = CrawlName(month="2026-11")

WORKERS = 64
"""Workers of a crawl, each with a connection to PostgreSQL of its own."""

PROCESSES = 2
"""Processes that the workers are shared among."""

WAIT_S = 0.5
"""Pause of a worker while others hold all sites that are left, in seconds."""


def plan_crawl(engine: Engine, sites: int, name: CrawlName = NAME) -> Crawl:
    wanted = CrawlPlan(
        name=name, sites=site_list(sites), top=None, attempts=2, budget_s=30.0, commit="0" * 40
    )
    return plan(engine, wanted)[0]


class Spent:
    """Processor time of the claims and of the writing of one process, here and in PostgreSQL."""

    def __init__(self) -> None:
        self.facts = {"claims": 0, "claim_s": 0.0, "claim_database_s": 0.0, "claim_wall_s": 0.0}
        self.facts |= {"visits": 0, "write_s": 0.0, "write_database_s": 0.0}
        self._lock = threading.Lock()

    def add(self, **spent: float) -> None:
        """Add to figures by name."""
        with self._lock:
            for name, value in spent.items():
                self.facts[name] += value


def crawl_sites(
    engine: Engine, web: Web, crawl: Crawl, spent: Spent, *, workers: int = WORKERS // PROCESSES
) -> None:
    """Claim and write sites by several workers until none is left; goes on where it was stopped."""

    def work(number: int) -> None:
        own = connect(engine.url.render_as_string(hide_password=False))
        with own.connect() as connection:
            server = connection.scalar(text("SELECT pg_backend_pid()"))
        while True:
            began, thread, there = time.monotonic(), time.thread_time(), bare.processor_s(server)
            claim = claim_site(own, crawl, owner=f"bench/{number}")
            claimed = time.thread_time()
            there_claimed = bare.processor_s(server)
            spent.add(
                claims=claim is not None,
                claim_s=claimed - thread,
                claim_database_s=there_claimed - there,
                claim_wall_s=time.monotonic() - began,
            )
            if claim is None:
                if not count_open_sites(own, crawl):
                    break
                time.sleep(WAIT_S)
                continue
            seen = web.visit(claim.rank)
            thread, there = time.thread_time(), bare.processor_s(server)
            store_visit(own, crawl, claim, seen)
            spent.add(
                visits=1,
                write_s=time.thread_time() - thread,
                write_database_s=bare.processor_s(server) - there,
            )
        own.dispose()

    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work, number) for number in range(workers)]:
            done.result()


def _plan(engine: Engine, _folder: Path, sites: int) -> dict[str, Any]:
    plan_crawl(engine, sites)
    return {}


def _crawl(engine: Engine, _folder: Path, _sites: int) -> dict[str, Any]:
    """Claim and write as one of PROCESSES; the web is read before, and is no cost of a crawl.

    What was spent until the database went away counts too: the next run goes on from there.
    """
    with engine.connect() as connection:
        crawl = find_crawl(connection, str(NAME))
    spent, failed = Spent(), 0
    try:
        crawl_sites(engine, Web.read(), crawl, spent)
    except DatabaseError as exc:
        print(exc, file=sys.stderr)
        failed = 1
    return {**spent.facts, "failed": failed}


def _gate(engine: Engine, _folder: Path, _sites: int) -> dict[str, Any]:
    with engine.connect() as connection:
        crawl = find_crawl(connection, str(NAME))
        ends, bounds = count_ends(connection, crawl), Bounds()
        broken = list(
            describe_broken_bounds(ends, bounds, find_clustered_failures(connection, crawl, bounds))
        )
    if broken:
        raise BenchError(f"the made-up crawl would not be sealed: {'; '.join(broken)}")
    return {}


def _seal(engine: Engine, _folder: Path, _sites: int) -> dict[str, Any]:
    with engine.connect() as connection:
        crawl = find_crawl(connection, str(NAME))
    seal(engine, crawl)
    return {}


def _build(engine: Engine, folder: Path, _sites: int) -> dict[str, Any]:
    built = build(engine, str(NAME), folder / "releases")
    files = [path.stat().st_size for path in built.release.path.iterdir()]
    with engine.connect() as connection:
        stored = connection.scalar(text("SELECT pg_database_size(current_database())"))
        received = connection.scalar(select(func.sum(Visit.received_bytes)))
    rows = built.release.manifest.rows
    return {"rows": rows, "bytes": sum(files), "database_bytes": stored, "received_bytes": int(received or 0)}


def _verify(engine: Engine, folder: Path, _sites: int) -> dict[str, Any]:
    release = find_release(folder / "releases", str(NAME))
    seconds, began, failed = {}, time.process_time(), []
    for check in verify(release, engine):
        now = time.process_time()
        seconds[check.name], began = round(now - began, 3), now
        if not check.holds:
            failed.append(f"{check.name}: {check.evidence}")
    if failed:
        raise BenchError(f"the made-up release does not verify: {'; '.join(failed)}")
    return {"checks_s": seconds}


def _publish(_engine: Engine, folder: Path, _sites: int) -> dict[str, Any]:
    """Publish to an S3 server of this machine, whose own cost does not count."""
    release = find_release(folder / "releases", str(NAME))
    with serve_s3(folder) as store:
        return {"to": "s3", "url": publish(release, store).url}


STEPS: Mapping[str, Callable[[Engine, Path, int], dict[str, Any]]] = {
    "plan": _plan,
    "crawl": _crawl,
    "gate": _gate,
    "seal": _seal,
    "build": _build,
    "verify": _verify,
    "publish": _publish,
    "bare": lambda engine, folder, _sites: bare.measure(engine, folder, str(NAME)),
}


def main(step: str, folder: str, sites: str, url: str) -> int:
    """Make a step; print its facts, with what this process took, without the programs that it ran."""
    engine = connect(url)
    upgrade(engine)
    try:
        facts = STEPS[step](engine, Path(folder), int(sites))
    finally:
        engine.dispose()
    used = resource.getrusage(resource.RUSAGE_SELF)
    facts |= {"cpu_s": round(used.ru_utime + used.ru_stime, 3), "peak_mb": round(used.ru_maxrss / 1000, 1)}
    print(json.dumps(facts))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))
