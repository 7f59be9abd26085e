"""A server of pages behind the shaped path, the loads over it,
and the crawl that tells the replay of its pages.

The server has a network namespace of its own; this process must be in one that
nothing else uses (`unshare --net`).
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.local_web import Served, await_state
from crawler.browser.browser import Browser
from firstflight.settings import from_environment
from localweb import recipes
from localweb.recipes import Page
from replay.networks.profiles import Profile
from studies.page_loads.loading import left, load_all, read_loads, steps
from studies.page_loads.networks import CRAWLERS
from studies.page_loads.shaped_path import ShapedPath, shaped_path

MONTH = "2026-11"
DATABASE = "data"
"""Folder of the crawl and its release, in the folder of the pages."""


class World(NamedTuple):
    """A running server of pages, and the path to it."""

    path: ShapedPath
    sites: list[str]
    flags: list[str]


@contextlib.contextmanager
def world(pages: Sequence[Page], folder: Path) -> Iterator[World]:
    """Serve the pages behind a path while the block runs;
    `folder` holds their recipes and the server's state."""
    folder.mkdir(parents=True, exist_ok=True)
    recipe_file, state = folder / f"recipes-{os.getpid()}.json", folder / f"web-{os.getpid()}.json"
    recipe_file.write_text(recipes.dump(pages), encoding="ascii")
    command = [
        "unshare",
        "--net",
        sys.executable,
        "-m",
        "studies.page_loads.serving",
        str(recipe_file),
        str(state),
    ]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as server:  # type: ignore[call-overload]  # of **
        try:
            server.stdout.readline()
            with shaped_path(server.pid) as path:
                server.stdin.write("\n")
                server.stdin.flush()
                served = await_state(server, state)
                yield World(path=path, sites=served.sites, flags=served.browser_flags)
        finally:
            server.stdin.close()
            for file in (recipe_file, state):
                file.unlink(missing_ok=True)
    if server.returncode:
        sys.exit(f"the server ended with exit code {server.returncode}")


async def make_loads(server: World, networks: Sequence[Profile], loads: int, folder: Path) -> None:
    """Make the loads that are left over each network, and keep them in a file of the network."""
    for network in networks:
        file = loads_file(folder, network)
        missing = left(steps(network, server.sites, loads), read_loads(file))
        if missing:
            async with Browser.launch(from_environment().chromium, flags=server.flags) as browser:
                await load_all(server.path, network, missing, browser, file)


def loads_file(folder: Path, network: Profile) -> Path:
    return folder / f"loads at {network.id}.jsonl"


def crawl(server: World, folder: Path) -> None:
    """Crawl the pages over the crawler's path by firstflight's own commands, and make a release of them."""
    if (folder / DATABASE / "releases").exists():
        return
    server.path.be(CRAWLERS)
    server.path.use(10)
    sites, state = folder / "sites.txt", folder / "crawled.json"
    sites.write_text("\n".join(server.sites) + "\n", encoding="utf-8")
    Served(sites=server.sites, browser_flags=server.flags).write(state)
    for arguments in (
        ("list", "fetch", str(sites)),
        ("crawl", "plan", "--crawl", MONTH, "--set", f"list={sites}", "--set", "kind=localweb"),
        ("crawl", "run", "--crawl", MONTH, "--set", "browsers=1", "--set", f"local_web={state}"),
        ("crawl", "seal", "--crawl", MONTH),
        ("release", "build", "--crawl", MONTH),
        ("database", "stop"),
    ):
        _firstflight(folder, *arguments)


def _firstflight(folder: Path, *arguments: str) -> None:
    environment = {
        **os.environ,
        "FIRSTFLIGHT_DATA_DIR": str((folder / DATABASE).resolve()),
        "FIRSTFLIGHT_DATABASE_URL": "",
        "FIRSTFLIGHT_SIGNING_KEY": "",
    }
    subprocess.run([sys.executable, "-m", "firstflight", *arguments], env=environment, check=True)
