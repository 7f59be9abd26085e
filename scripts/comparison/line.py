"""Makes releases, replays and a report of the same crawl with two checkouts of firstflight."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from scripts.comparison import recordings

READY_WITHIN_S = 60
"""Time limit for the local web's start, in seconds."""

KEPT = ("FIRSTFLIGHT_CACHE_DIR", "FIRSTFLIGHT_CHROMIUM")
"""Settings that the checkouts take from the environment; all others are left out."""

SMALL_PAGES = (5, 8, 9, 18, 22, 27, 29)
"""Numbers of the bundled pages that are below 350 kB: their replay takes seconds."""


@dataclass(frozen=True, slots=True)
class Crawl:
    """A crawl of the bundled web."""

    month: str
    sites: str
    options: tuple[str, ...] = ()


CRAWLS = (
    Crawl("2025-11", "small", ("--arm", "quic", "--device", "mobile", "--loads", "2", "--inner", "1")),
    Crawl("2026-10", "all"),
    Crawl("2026-11", "small"),
)
"""The report of 2026 reads the newest crawl of its year, and the report of 2025."""

NETWORKS = "--profiles avgdc-2010-mid,emerging-250ms-4mbps-0.005"

ARMS = f"""replay %s --crawl 2025-11 --pages 2 {NETWORKS} --iw 3,10 --seeds 1 --responses
    --congestion-control cubic,bbr --pacing off,on --loss own,0.01x4 --competition none,2xbbr@10
    --think none,recorded --cache cold,warm"""
"""A replay of every option that varies how a page is loaded, in all combinations."""

REPLAYS = (
    f"replay run %s --seeds 2 {NETWORKS} --think none,recorded --cache cold,warm",
    "replay run --crawl 2026-11 --seeds 2 --harm all --harm-pages 2 --responses",
    ARMS % "run --chunk 1/2",
    ARMS % "run --chunk 2/2",
    ARMS % "merge --chunks 2",
    "report build --year 2025 --without-replay",
    "report build --year 2026",
    "verify --offline",
)
"""Commands that follow the releases; the first one replays recordings."""

SERVED = (
    "/", "/docs", "/openapi.json", "/v1/crawls", "/v1/releases", "/v1/reports",
    *(f"/v1/distributions?crawl={one}" for one in CRAWLS),
    *(f"/v1/distributions?crawl={one}&iw=3&iw=17&mss=1460&points=20" for one in CRAWLS),
)  # fmt: skip
"""Paths of the service whose answers are compared."""

SAID = "said"
"""Folder below a data folder for the JSON that commands print."""


@dataclass(frozen=True, slots=True)
class Side:
    """One checkout and the data folder that it writes."""

    checkout: Path
    data: Path
    settings: dict[str, str] = field(default_factory=dict)
    """Environment variables of its commands, beside the data folder."""

    def command(self, *arguments: str) -> list[str]:
        """The checkout's own `firstflight`, wherever its environment lies."""
        return [
            "bash",
            "-c",
            '. scripts/environment; exec "$venv/bin/firstflight" "$@"',
            "firstflight",
            *arguments,
        ]

    @property
    def environment(self) -> dict[str, str]:
        """Variables of a command: the data folder with its embedded PostgreSQL, and no signing key."""
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name in KEPT or not name.startswith("FIRSTFLIGHT_")
        }
        return {**inherited, "FIRSTFLIGHT_DATA_DIR": str(self.data), **self.settings}

    def run(self, *arguments: str) -> str:
        """Run one command to its end; its standard output. Raises CalledProcessError."""
        began = time.monotonic()
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.checkout,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        print(
            f"{time.monotonic() - began:7.1f} s  {self.data.name}: firstflight {' '.join(arguments)}",
            flush=True,
        )
        return done.stdout

    def say(self, name: str, *arguments: str) -> None:
        """Keep the JSON that a command prints."""
        folder = self.data / SAID
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.json").write_text(self.run(*arguments, "--json"), encoding="utf-8")


@contextlib.contextmanager
def running(side: Side, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A command that runs for as long as the block does."""
    command = side.command(*arguments)
    process = subprocess.Popen(
        command, cwd=side.checkout, env=side.environment, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate()


@contextlib.contextmanager
def local_web(side: Side, state: Path) -> Iterator[list[str]]:
    """The sites of the bundled web, which is played on loopback for as long as the block runs."""
    with running(side, "localweb", "serve", "--state", str(state)) as web:
        deadline = time.monotonic() + READY_WITHIN_S
        while not state.exists():
            if web.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the local web does not start")
            time.sleep(0.1)
        yield json.loads(state.read_text(encoding="utf-8"))["sites"]


def crawl(side: Side) -> None:
    """Crawl the bundled web, seal the crawls, and copy the database."""
    side.data.mkdir(parents=True)
    state = side.data / "localweb.json"
    with local_web(side, state) as sites:
        write_list(side, "all", sites)
        write_list(side, "small", [sites[number - 1] for number in SMALL_PAGES])
        for one in CRAWLS:
            name, path = ("--crawl", one.month), str(side.data / f"{one.sites}.txt")
            side.run("crawl", "plan", *name, "--list", path, "--kind", "localweb", *one.options)
            side.run("crawl", "run", *name, "--local-web", str(state))
            side.run("crawl", "gate", *name)
            side.run("crawl", "seal", *name)
    side.run("database", "backup")
    side.run("database", "stop")


def write_list(side: Side, name: str, sites: list[str]) -> None:
    """Write a list of sites, and take it in."""
    path = side.data / f"{name}.txt"
    path.write_text("".join(f"{site}\n" for site in sites), encoding="utf-8")
    side.run("list", "fetch", str(path))


def redo(side: Side, copy: Path, recorded: str, published: tuple[str, ...]) -> None:
    """Make everything that follows a crawl from a copy of its database."""
    side.data.mkdir(parents=True)
    side.run("database", "restore", str(copy))
    side.say("check", "database", "check")
    for one in CRAWLS:
        name = ("--crawl", one.month)
        side.say(f"status-{one.month}", "crawl", "status", *name)
        side.say(f"gate-{one.month}", "crawl", "gate", *name)
        side.run("release", "build", *name)
        side.say(f"verify-{one.month}", "release", "verify", *name)
    side.run("database", "stop")
    side.say("selftest", "replay", "selftest")
    for result in published:
        side.say(f"published-{result}", "replay", "reproduce", result)
    for command in (REPLAYS[0] % recorded, *REPLAYS[1:]):
        side.run(*command.split())
    serve(side)


def serve(side: Side) -> None:
    """Keep what the service answers."""
    # The service remembers answers in the cache folder: another checkout must not find them there.
    alone = {"FIRSTFLIGHT_CACHE_DIR": str(side.data / "cache")}
    with running(replace(side, settings=alone), "serve", "--port", "0") as service:
        assert service.stderr is not None
        address = urlsplit(service.stderr.readline().split()[-1]).netloc
        for path in SERVED:
            connection = http.client.HTTPConnection(address, timeout=READY_WITHIN_S)
            connection.request("GET", path)
            answer = connection.getresponse()
            suffix = "json" if answer.headers.get_content_type() == "application/json" else "html"
            name = re.sub(r"\W+", "-", path).strip("-") or "index"
            (side.data / SAID / f"{name}.{suffix}").write_bytes(answer.read())


def fresh(side: Side) -> Side:
    """The side with an empty data folder; an embedded server that still runs there is stopped."""
    if (side.data / "postgres").exists():
        side.run("database", "stop")
    shutil.rmtree(side.data, ignore_errors=True)
    return side


def code_of(checkout: Path) -> str:
    """Commit of a checkout, with a mark where files differ from it."""
    described = ("git", "-C", str(checkout), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty")
    return subprocess.run(described, capture_output=True, text=True, check=True).stdout.strip()


def make(old: Path, new: Path, folder: Path, published: tuple[str, ...]) -> tuple[Path, Path]:
    """The data folders of both checkouts below `folder`; those of an unchanged `old` are used again."""
    folder.mkdir(parents=True, exist_ok=True)
    crawled = Side(old, folder / "crawl")
    asked = json.dumps([code_of(old), *published])
    made = folder / "made-before.json"
    recorded = "--har {} --cdp {}".format(*recordings.write(folder / "recordings"))
    before, after = Side(old, folder / "before"), Side(new, folder / "after")
    if not made.exists() or made.read_text(encoding="utf-8") != asked:
        made.unlink(missing_ok=True)
        crawl(fresh(crawled))
        redo(fresh(before), copy_of(crawled), recorded, published)
        made.write_text(asked, encoding="utf-8")
    redo(fresh(after), copy_of(crawled), recorded, published)
    return before.data, after.data


def copy_of(side: Side) -> Path:
    """The newest copy of the side's database."""
    return max((side.data / "backups").iterdir())
