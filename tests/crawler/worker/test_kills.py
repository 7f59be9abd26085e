"""Crawlers, browsers, their driver and PostgreSQL are killed at random,
and started again as an operator would."""

import asyncio
import contextlib
import dataclasses
import json
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from crawler.browser import processes
from crawler.browser.driver import ARGUMENT
from localweb.serving.certificates import Authority
from schema.vocabulary import RETRIED
from storage import embedded
from tests.circles import ALL
from tests.zoo.raw import Answer, RawWeb, answer, html

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SITES = 300 if ALL else 40
CRAWLERS = 4
BROWSERS_EACH = 1

ROUNDS = 5 if ALL else 1

KILLS = (["crawler"] * 3 + ["browser"] * 2 + ["driver", "postmaster", "backend"]) * ROUNDS

WITHIN_S = 900.0
"""Far beyond what it takes, on a machine that does other things too."""

OBJECT_BYTES = 700


def page(rank: int) -> dict[str, Answer]:
    """Two to four small objects, a number that only this site has."""
    host = f"s{rank}.test"
    images = range(2 + rank % 3)
    answers = {f"{host}/": html("".join(f"<img src=/{n}.png>" for n in images))}
    for n in images:
        answers[f"{host}/{n}.png"] = answer(b"x" * (OBJECT_BYTES + rank), "Content-Type: image/png")
    return answers


PAGES = {rank: page(rank) for rank in range(1, SITES + 1)}


@pytest.fixture(scope="module")
def browser_flags() -> Iterator[list[str]]:
    """Flags for a web of 300 sites, served by a thread; by https, since browsers try it first."""
    answers = {path: answer for answers in PAGES.values() for path, answer in answers.items()}
    web = RawWeb(answers, authority=Authority())
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(web.__aenter__(), loop).result(10)
    yield web.browser_flags
    asyncio.run_coroutine_threadsafe(web.__aexit__(None, None, None), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@dataclasses.dataclass
class Operator:
    """Keeps crawlers and the database going, and ends them without a warning."""

    folder: Path
    random: random.Random
    crawlers: list[subprocess.Popen[bytes]] = dataclasses.field(default_factory=list)
    killed: list[str] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        self.data = self.folder / "postgres"
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.errors = self.folder / "errors"
        self.environment = {
            **os.environ,
            "TMPDIR": str(self.temporary),
            "FIRSTFLIGHT_DATA_DIR": str(self.folder / "data"),
            "FIRSTFLIGHT_DATABASE_URL": embedded.start(self.data),
        }

    def firstflight(self, *arguments: str) -> subprocess.Popen[bytes]:
        call = [sys.executable, "-m", "firstflight", "crawl", *arguments, "--crawl", "2026-11"]
        with self.errors.open("ab") as errors:
            return subprocess.Popen(
                call, env=self.environment, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
            )

    def plan(self, flags: list[str]) -> None:
        (self.folder / "web.json").write_text(json.dumps({"browser_flags": flags}))
        (self.folder / "sites.txt").write_text("".join(f"s{rank}.test\n" for rank in PAGES))
        plan = ["plan", "--set", f"list={self.folder / 'sites.txt'}", "--set", "kind=localweb"]
        assert self.firstflight(*plan, "--set", "budget_s=20", "--set", "attempts=9").wait(180) == 0, (
            self.read_log()
        )

    def run(self) -> subprocess.Popen[bytes]:
        return self.firstflight(
            "run", "--set", f"local_web={self.folder / 'web.json'}", "--set", f"browsers={BROWSERS_EACH}"
        )

    def read_log(self) -> str:
        return self.errors.read_text(errors="replace")

    def ask(self, statement: str) -> list[tuple[object, ...]]:
        with psycopg.connect(embedded.url(self.data)) as connection:
            return connection.execute(statement.encode()).fetchall()

    def done(self) -> int:
        """Sites; 0 while the database recovers from the death of a backend."""
        try:
            ((count,),) = self.ask("SELECT count(final_visit_id) FROM site")
        except psycopg.OperationalError:
            return 0
        assert isinstance(count, int)
        return count

    def restart(self) -> None:
        self.crawlers = [crawler if crawler.poll() in (None, 0) else self.run() for crawler in self.crawlers]

    def kill(self, kind: str) -> None:
        while not (pids := self.find(kind)):
            self.restart()
            time.sleep(0.1)
        pid = self.random.choice(pids)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        self.killed.append(f"{kind} {pid}")
        if kind == "postmaster":
            time.sleep(self.random.uniform(0, 1))
            embedded.start(self.data)

    def find(self, kind: str) -> list[int]:
        tree = processes.list_parents()
        crawlers = [crawler.pid for crawler in self.crawlers if crawler.poll() is None]
        drivers = [
            pid
            for crawler in crawlers
            for pid in processes.list_descendants(crawler, tree)
            if ARGUMENT in processes.read_arguments(pid)
        ]
        postmaster = embedded.postmaster(self.data)
        collected: dict[str, Callable[[], list[int]]] = {
            "crawler": lambda: crawlers,
            "driver": lambda: drivers,
            "browser": lambda: [pid for pid, parent in tree.items() if parent in drivers],
            "postmaster": lambda: [postmaster] if postmaster else [],
            "backend": lambda: [int(str(pid)) for (pid,) in self.ask(BACKENDS)],
        }
        return collected[kind]()

    def family(self) -> list[list[bytes]]:
        """Every process that one of the crawlers, dead or alive, ever started and that still runs."""
        ours = f"TMPDIR={self.temporary}/".encode()
        collected = []
        for pid in processes.list_parents():
            with contextlib.suppress(OSError):
                if ours in Path(f"/proc/{pid}/environ").read_bytes():
                    collected.append(processes.read_arguments(pid))
        return collected


BACKENDS = """
SELECT pid FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name = 'firstflight'
"""


@pytest.fixture
def operator() -> Iterator[Operator]:
    """An operator with a database of its own; the output of a failed test has the seed."""
    seed = int(os.environ.get("FIRSTFLIGHT_TEST_SEED") or secrets.randbelow(1_000_000))
    print(f"FIRSTFLIGHT_TEST_SEED={seed}")
    folder = Path(tempfile.mkdtemp(prefix="ff-", dir="/tmp"))
    folder.chmod(0o755)
    operator = Operator(folder, random.Random(seed))
    yield operator
    for crawler in operator.crawlers:
        if crawler.poll() is None:
            crawler.kill()
        crawler.wait()
    embedded.stop(operator.data)
    shutil.rmtree(folder)


def test_a_crawl_through_kills_has_every_site_once(operator: Operator, browser_flags: list[str]) -> None:
    operator.plan(browser_flags)
    operator.crawlers = [operator.run() for _ in range(CRAWLERS)]
    kinds = operator.random.sample(KILLS, len(KILLS))
    points = sorted(operator.random.sample(range(5, SITES - 20), len(KILLS)))
    deadline = time.monotonic() + WITHIN_S
    while time.monotonic() < deadline and any(crawler.poll() != 0 for crawler in operator.crawlers):
        if kinds and operator.done() >= points[0]:
            time.sleep(operator.random.uniform(0, 0.5))
            operator.kill(kinds.pop())
            points.pop(0)
        operator.restart()
        time.sleep(0.3)
    print(*operator.killed, operator.read_log(), sep="\n")
    assert len(operator.killed) == len(KILLS)
    assert [crawler.poll() for crawler in operator.crawlers] == [0] * CRAWLERS
    assert "Traceback" not in operator.read_log()
    assert_every_site_is_there_once(operator)
    assert_nothing_is_left(operator)
    assert operator.firstflight("seal").wait(180) == 0


def assert_every_site_is_there_once(operator: Operator) -> None:
    ask = operator.ask
    assert ask("SELECT count(*), count(owner), count(lease_expires_at) FROM site") == [(SITES, 0, 0)]
    assert ask(
        "SELECT count(*), count(DISTINCT visit.rank) FROM site JOIN visit "
        "ON visit.id = final_visit_id AND visit.rank = site.rank AND visit.is_final"
    ) == [(SITES, SITES)]
    assert ask("SELECT count(*) FROM visit WHERE is_final") == [(SITES,)]
    assert ask("SELECT DISTINCT outcome FROM visit WHERE is_final") == [("ok",)]
    assert {str(outcome) for (outcome,) in ask("SELECT outcome FROM visit WHERE NOT is_final")} <= RETRIED
    # Nothing of a visit is missing, nothing is there twice.
    whole = (
        "SELECT visit.rank, count(*), count(DISTINCT (host, path)), sum(wire_bytes)::bigint "
        "FROM response JOIN (SELECT id, rank FROM visit WHERE is_final) AS visit ON visit.id = visit_id "
        "GROUP BY visit.rank ORDER BY visit.rank"
    )
    assert ask(whole) == [
        (rank, len(answers), len(answers), sum(len(answer.wire) for answer in answers.values()))
        for rank, answers in PAGES.items()
    ]
    for table in ("connection", "response"):
        assert ask(f"SELECT count(*) - count(DISTINCT (visit_id, id)) FROM {table}") == [(0,)]
        assert ask(
            f"SELECT count(*) FROM {table} WHERE visit_id NOT IN (SELECT id FROM visit "
            "WHERE rank = visit_id / 1000)"
        ) == [(0,)]
    # Of the visits that broke off, too, all rows were written or none.
    assert (
        ask(
            "SELECT visit.id FROM visit LEFT JOIN connection ON visit_id = visit.id GROUP BY visit.crawl_id, "
            "visit.id HAVING coalesce(sum(connection.received_bytes), 0) <> visit.received_bytes"
        )
        == []
    )


def assert_nothing_is_left(operator: Operator) -> None:
    deadline = time.monotonic() + 60
    while operator.family() and time.monotonic() < deadline:
        time.sleep(0.2)
    assert operator.family() == []
    assert operator.run().wait(180) == 0  # there is nothing to visit, but to sweep
    assert list(operator.temporary.iterdir()) == []
