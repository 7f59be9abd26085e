"""A crawl of local pages by several processes of `firstflight crawl run`,
which can be killed and started again."""

import contextlib
import dataclasses
import json
import os
import secrets
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.counting import pss_kb
from benchmarks.local_web import Served, multiply_sites
from crawler.browser import processes
from crawler.browser.driver import ARGUMENT
from localweb import recipes
from localweb.modes import SUFFIX
from storage import embedded

LARGEST_PAGE_OBJECTS = 45
STOPS_WITHIN_S = 60.0
CRAWL = "2026-01"


@dataclasses.dataclass(kw_only=True)
class KilledCrawl:
    """A crawl in a folder of its own, kept until it is done."""

    folder: Path
    pages: int
    browsers: int
    running: list[subprocess.Popen[bytes]] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        """Start the database."""
        self.database = self.folder / "postgres"
        self.temporary = self.folder / "tmp"
        self.samples = self.folder / "samples.jsonl"
        self.temporary.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)  # the database runs as another user
        self.environment = {
            **os.environ,
            "TMPDIR": str(self.temporary),
            "FIRSTFLIGHT_DATA_DIR": str(self.folder / "data"),
            "FIRSTFLIGHT_DATABASE_URL": embedded.start(self.database),
        }

    def command(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start `firstflight crawl`."""
        call = [sys.executable, "-m", "firstflight", "crawl", *arguments, "--crawl", CRAWL]
        with (self.folder / "errors.log").open("ab") as errors:
            return subprocess.Popen(
                call, env=self.environment, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
            )

    def plan(self, web: Served) -> None:
        """Plan a crawl in which each site is a small page under a name of its own;
        the same plan again changes nothing."""
        small = {
            page.site + SUFFIX for page in recipes.load_bundled() if len(page.objects) <= LARGEST_PAGE_OBJECTS
        }
        web = multiply_sites(web, [site for site in web.sites if site in small], self.pages)
        (self.folder / "sites.txt").write_text("\n".join(web.sites), encoding="utf-8")
        web.write(self.folder / "web.json")
        options = ["--list", str(self.folder / "sites.txt"), "--kind", "localweb", "--attempts", "9"]
        if self.command("plan", *options).wait():
            sys.exit(f"the crawl cannot be planned: see {self.folder}/errors.log")

    def run(self) -> subprocess.Popen[bytes]:
        """Start a crawler."""
        return self.command(
            *("run", "--local-web", str(self.folder / "web.json"), "--minutes", "1440"),
            *("--browsers", str(self.browsers)),
        )

    def restart(self) -> None:
        """Start again what did not end by itself."""
        embedded.start(self.database)
        self.running = [crawler if crawler.poll() in (None, 0) else self.run() for crawler in self.running]

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with psycopg.connect(embedded.url(self.database)) as connection:
            return connection.execute(statement.encode()).fetchall()

    def done(self) -> int:
        """Return the number of sites with a final visit; 0 while the database starts."""
        try:
            return int(self.ask("SELECT count(final_visit_id) FROM site")[0][0])
        except psycopg.OperationalError:
            return 0

    def processes(self) -> dict[str, list[int]]:
        """Return the process ids by role."""
        tree = processes.list_parents()
        crawlers = [crawler.pid for crawler in self.running if crawler.poll() is None]
        below = [pid for crawler in crawlers for pid in processes.list_descendants(crawler, tree)]
        drivers = [pid for pid in below if ARGUMENT in processes.read_arguments(pid)]
        browsers = [pid for driver in drivers for pid in processes.list_descendants(driver, tree)]
        return {"crawlers": crawlers, "drivers": drivers, "browsers": browsers}

    def kill(self, kind: str) -> None:
        """Kill one process of a kind, if there is one."""
        running, tree = self.processes(), processes.list_parents()
        postmaster = embedded.postmaster(self.database)
        victims = {
            "crawler": running["crawlers"],
            "driver": running["drivers"],
            "browser": [pid for pid in running["browsers"] if tree.get(pid) in running["drivers"]],
            "database": [postmaster] if postmaster else [],
        }[kind]
        if victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(secrets.choice(victims), signal.SIGKILL)

    def sample(self, elapsed_s: float, done: int) -> None:
        """Note the memory of each role: proportional set size, in bytes."""
        used = {role: 1024 * sum(map(pss_kb, pids)) for role, pids in self.processes().items()}
        line = json.dumps({"pages": done, "s": round(elapsed_s, 1), **used})
        with self.samples.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        print(line, flush=True)

    def stop(self) -> None:
        """Tell the crawlers to give back their visits, and end."""
        for crawler in self.running:
            crawler.terminate()
        for crawler in self.running:
            try:
                crawler.wait(STOPS_WITHIN_S)
            except subprocess.TimeoutExpired:
                crawler.kill()
        embedded.stop(self.database)

    def leftovers(self) -> dict[str, int]:
        """Return the number of processes and files that the crawlers left, once another crawler has swept."""
        self.run().wait(STOPS_WITHIN_S)
        ours = f"TMPDIR={self.temporary}".encode()
        left = 0
        for pid in processes.list_parents():
            with contextlib.suppress(OSError):
                left += ours in Path(f"/proc/{pid}/environ").read_bytes()
        return {"processes": left, "files": len(list(self.temporary.iterdir()))}
