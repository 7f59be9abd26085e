"""The compared crawlers: how each runs over the same pages in the same browser, and reads its result."""

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from benchmarks import counting
from crawler.browser.browser import CAPTURE_MODE_FLAG, LOG_FLAG
from firstflight.connect import embedded_folder
from firstflight.settings import from_environment
from storage import embedded

VIEWPORT = {"width": 1280, "height": 720}
"""Viewport of every tool: Playwright's default."""

MONTH = "2000-01"
"""Month of the benchmark's crawls; each run is a vantage."""


class ToolError(Exception):
    """A tool did not do its job."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Web:
    """The local web's pages."""

    sites: list[str]
    flags: list[str]
    state: Path

    @property
    def urls(self) -> list[str]:
        """URLs of the pages; in mode h2 all hosts of the local web use https."""
        return [f"https://{site}/" for site in self.sites]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """Result of a tool's run."""

    pages: int
    database_cpu_s: float = 0.0
    """CPU time of processes that the tool uses but does not start."""


class Tool(Protocol):
    """A compared crawler."""

    id: str
    name: str
    environment: dict[str, str]

    def prepare(self, web: Web, folder: Path, browsers: int) -> list[list[str]]:
        """Prepare a run, whose cost is not counted; the commands to run side by side."""
        ...

    def done(self, folder: Path) -> Done: ...


def _browser() -> str:
    return str(from_environment().chromium)


def _job(web: Web, folder: Path, browsers: int, flags: Sequence[str] = ()) -> list[str]:
    """Return arguments of our own drivers: the job's file, and the file for the result."""
    job = {
        "urls": web.urls,
        "flags": [*web.flags, "--disable-quic", *flags],
        "browser": _browser(),
        "browsers": browsers,
        "viewport": VIEWPORT,
    }
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    return [str(folder / "job.json"), str(folder / "done.json")]


def _read(path: Path) -> Any:  # noqa: ANN401  # JSON
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as exc:
        raise ToolError(f"{path} cannot be read ({exc})") from exc


class Bare:
    """Playwright alone, without recording."""

    id = "bare"
    name = "Playwright alone"
    flags: Sequence[str] = ()

    def __init__(self) -> None:
        self.environment = {"PYTHONPATH": str(Path.cwd())}

    def prepare(self, web: Web, folder: Path, browsers: int) -> list[list[str]]:
        """Return one process that drives all browsers."""
        return [[sys.executable, "-m", "benchmarks.bare", *_job(web, folder, browsers, self.flags)]]

    def done(self, folder: Path) -> Done:
        return Done(pages=_read(folder / "done.json")["pages"])


class Logged(Bare):
    """Playwright with the browser's network log that the crawler reads, written to nobody:
    the limit of what reads it."""

    id = "logged"
    name = "Playwright and the browser's log, unread"
    flags = (f"{LOG_FLAG}/dev/null", CAPTURE_MODE_FLAG)


class Ours:
    """`firstflight crawl run` with an embedded PostgreSQL."""

    id = "firstflight"
    name = "firstflight"

    def __init__(self, data: Path) -> None:
        self.environment = {"FIRSTFLIGHT_DATA_DIR": str(data), "FIRSTFLIGHT_DATABASE_URL": ""}
        self._settings = dataclasses.replace(from_environment(), data_dir=data, database_url=None)
        self._program = str(Path(sys.executable).with_name("firstflight"))
        self._runs = 0
        self._crawl = ""
        self._database_s = 0.0

    def _ask(self, *arguments: str) -> Any:  # noqa: ANN401  # JSON
        done = subprocess.run(
            [self._program, *arguments, "--json"],
            env=os.environ | self.environment,
            stdout=subprocess.PIPE,
            check=False,
        )
        if done.returncode:
            raise ToolError(f"firstflight {' '.join(arguments)} failed")
        return json.loads(done.stdout)

    def _database_cpu_s(self) -> float:
        pid = embedded.postmaster(embedded_folder(self._settings))
        if pid is None:
            raise ToolError("the embedded PostgreSQL does not run")
        return counting.tree_cpu_s(pid)

    def prepare(self, web: Web, folder: Path, browsers: int) -> list[list[str]]:
        """Plan a crawl, which starts the database."""
        self._runs += 1
        sites = folder / "sites.txt"
        sites.write_text("".join(f"{site}\n" for site in web.sites), encoding="utf-8")
        arguments = [
            "--crawl",
            MONTH,
            "--set",
            f"list={sites}",
            "--set",
            "kind=localweb",
            "--set",
            "attempts=1",
        ]
        planned = self._ask(
            "crawl", "plan", *arguments, "--set", "budget_s=120", "--set", f"vantage={self.id}-{self._runs}"
        )
        self._crawl = planned["crawl"]
        self._database_s = self._database_cpu_s()
        run = ["--crawl", self._crawl, "--set", f"browsers={browsers}", "--set", f"local_web={web.state}"]
        return [[self._program, "crawl", "run", *run]]

    def done(self, _: Path) -> Done:
        spent = self._database_cpu_s() - self._database_s
        status = self._ask("crawl", "status", "--crawl", self._crawl)
        return Done(
            pages=status["outcomes"].get("ok", 0),
            database_cpu_s=round(spent, 2),
        )


class Puppeteer:
    """Puppeteer with puppeteer-har."""

    id = "puppeteer"
    name = "Puppeteer with HAR"

    def __init__(self, node: Path, peers: Path) -> None:
        self.environment: dict[str, str] = {}
        self._command = [str(node), str(peers / "puppeteer.js")]

    def prepare(self, web: Web, folder: Path, browsers: int) -> list[list[str]]:
        """Return one process that drives all browsers."""
        return [[*self._command, *_job(web, folder, browsers)]]

    def done(self, folder: Path) -> Done:
        """Count the load events."""
        return Done(pages=_read(folder / "done.json")["pages"])
