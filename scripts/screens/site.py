"""The service over the recorded pages and the first edition, as it is on its first day."""

from __future__ import annotations

import dataclasses
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from api.app import create_app
from api.contact import Contact
from api.lab.process import replay_in_process
from api.lab.queue import Queue
from firstflight.recorded_pages import bundled_release
from firstflight.settings import from_environment
from recordings.pages.rows import page_host
from storage.sums import manifest_of

if TYPE_CHECKING:
    from fastapi import FastAPI

EDITION = Path(__file__).parents[2] / "docs" / "edition-2026"
YEAR = EDITION.name.rpartition("-")[2]

PAGE = 488
"""Page of the bundled recording whose site and waterfall are shown: some thirty responses."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Site:
    """A service, and what its routes are asked with."""

    app: FastAPI
    examples: dict[str, str]
    """A value for each parameter of a path, or a whole address for a route's path."""


def recorded_site(data_dir: Path) -> Site:
    """The service, whose data are written to `data_dir`."""
    settings = dataclasses.replace(from_environment(), data_dir=data_dir)
    release = bundled_release(settings)
    version = manifest_of(EDITION)["publication"]["version"]
    shutil.copytree(EDITION, data_dir / "reports" / YEAR / f"v{version}")
    contact = Contact(url="https://sizes.example/about-the-crawler", email="crawl@sizes.example")
    lab = Queue(partial(replay_in_process, settings.cache_dir))
    app = create_app(settings.releases, settings.reports, contact=contact, lab=lab)
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
        "/documents/images/{name:path}": "/documents/images/endurance.svg",
        "/documents/{name:path}": "/documents/forms",
    }
    return Site(app=app, examples=examples)
