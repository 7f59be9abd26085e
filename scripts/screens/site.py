"""The service over the recorded pages and the first edition, as it is on its first day, and over a demo of several months."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from api.app import create_app
from api.contact import Contact
from api.lab.queue import Queue
from firstflight.recorded_pages import bundled_release
from firstflight.settings import from_environment
from recordings.pages.rows import page_host
from releases.catalogue import releases
from scripts.screens.lab import PausedLab
from storage.sums import manifest_of

if TYPE_CHECKING:
    from fastapi import FastAPI

EDITION = Path(__file__).parents[2] / "docs" / "edition-2026"
YEAR = EDITION.name.rpartition("-")[2]

PAGE = 488
"""Page of the bundled recording whose site and waterfall are shown: some thirty responses."""

DEMO = ("--pages", "20", "--networks", "2", "--seeds", "2")
"""Options of the demo: the fewest pages whose shares have intervals, and few loads."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Site:
    """A service, and what its routes are asked with."""

    app: FastAPI
    examples: dict[str, str]
    """A value for each parameter of a path, or a whole address for a route's path."""
    lab: PausedLab


def recorded_site(data_dir: Path) -> Site:
    """The service, whose data are written to `data_dir`."""
    settings = dataclasses.replace(from_environment(), data_dir=data_dir)
    release = bundled_release(settings)
    version = manifest_of(EDITION)["publication"]["version"]
    shutil.copytree(EDITION, data_dir / "reports" / YEAR / f"v{version}")
    contact = Contact(url="https://sizes.example/about-the-crawler", email="crawl@sizes.example")
    lab = PausedLab(settings.cache_dir)
    app = create_app(settings.releases, settings.reports, contact=contact, lab=Queue(lab.replay))
    page = f"/releases/{release.crawl}/v{release.manifest.version}"
    examples = {
        "crawl": str(release.crawl),
        "year": YEAR,
        "version": str(version),
        "/releases/{crawl}/v{version}": page,
        "name": "index",
        "path": "style.css",
        "host": page_host(PAGE),
        "/releases/{crawl}/v{version}/pages/{visit}": f"{page}/pages/{PAGE}",
        "/releases/{crawl}/v{version}/measures/{measure}": f"{page}/measures/responses",
        "figure": "fig-gains",
        "/documents/images/{name:path}": "/documents/images/endurance.svg",
        "/documents/{name:path}": "/documents/forms",
    }
    return Site(app=app, examples=examples, lab=lab)


def demo_site(data_dir: Path) -> tuple[FastAPI, dict[str, str]]:
    """The service over a demo, whose data are written to `data_dir`, and the explorer's addresses by the pictures' names.

    They set both devices of its last month beside each other, its last month and a year before, and the devices over its months.
    """
    call = [sys.executable, "-m", "firstflight", "demo", *DEMO]
    subprocess.run(call, env={**os.environ, "FIRSTFLIGHT_DATA_DIR": str(data_dir)}, check=True)
    settings = dataclasses.replace(from_environment(), data_dir=data_dir / "demo")
    crawls = [one.crawl for one in releases(settings.releases)]
    month = max(one.month for one in crawls)
    last, *others = sorted((one for one in crawls if one.month == month), key=str)
    chosen = {
        "explore-two-devices": [last, *others],
        "explore-two-years": [last, last.year_before],
        "explore-months": [last, *others],
    }
    addresses = {
        name: f"/explore?{urlencode([('crawl', str(one)) for one in found])}"
        for name, found in chosen.items()
    }
    return create_app(settings.releases, settings.reports), addresses
