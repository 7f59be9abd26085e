"""Takes a picture of every page of the service, and of the report on paper: python -m scripts.screens --help."""

from __future__ import annotations

import argparse
import base64
import dataclasses
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi.testclient import TestClient

from scripts.screens.addresses import NOWHERE, addresses
from scripts.screens.browser import SCHEMES, SIZES, Scheme, launched, opened
from scripts.screens.lab import ReplayFailed, give, har, wait_for
from scripts.screens.site import EDITION, PAGE, YEAR, Site, demo_site, recorded_site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "images" / "screens"

QUALITY = 24
"""Quality of the WebP pictures, of 100."""

MOST_KB = 2800
"""Most that all pictures together may take."""

PAPER_DPI = 64

SHEETS = (1, 2)
"""Sheets of the edition's page as a browser prints it that have a picture."""

OF_EDITION = {"matrix": ".matrix >> nth=0", "forest": "#fig-countries", "ledger": "#ledger"}
"""Elements of the edition that have pictures of their own, by the pictures' names."""

EACH_WAY: tuple[tuple[int, Scheme], ...] = tuple((width, scheme) for width in SIZES for scheme in SCHEMES)
"""Sizes and schemes of a page's pictures."""

EACH_ONCE: tuple[tuple[int, Scheme], ...] = ((1280, "light"), (390, "dark"))
"""Sizes and schemes of pictures of parts, each once: a desk by day, and a phone by night."""

DESK, PHONE = EACH_ONCE

OF_CHOICES = {"explore-two-devices": (PHONE,), "explore-two-years": (DESK,), "explore-months": EACH_ONCE}
"""Sizes and schemes of pictures of the explorer's choices, by the pictures' names."""

NAMES = {
    "/": "home",
    NOWHERE: "problem",
    f"/reports/{YEAR}/v": "edition",
    "/releases/": "release",
    "/sites/": "site",
}
"""Names of pages by the beginning of their path, where the path itself is none."""

PARTS = {"/pages/": "page-load", "/measures/": "measure", "/figures/": "figure"}
"""Names of pages by a part of their path, which goes before its beginning."""

BEGINS = {
    "page-load": "#waterfall",
    "lab-result": "#waterfalls",
    "explore": "#figure",
    "explore-two-devices": "#figure",
    "explore-two-years": "#figure",
    "explore-months": "#months",
}
"""Element at the top of a page's pictures, where what the page is about stands below its first screen."""


class ScreensError(Exception):
    """The pictures cannot be taken; the message says why."""


@dataclasses.dataclass(frozen=True, slots=True)
class Picture:
    """One picture: its path below the folder of all, and its bytes."""

    path: str
    webp: bytes


def name_of(path: str) -> str:
    """The folder of a page's pictures.

    >>> name_of("/"), name_of("/reports/2026/v1/"), name_of("/reports/2026/errata"), name_of("/about-the-crawler")
    ('home', 'edition', 'reports-2026-errata', 'about-the-crawler')
    >>> name_of("/releases/2026-11.desktop.local.tcp.web/v1"), name_of("/releases/2026-11.desktop.local.tcp.web/v1/pages/1")
    ('release', 'page-load')
    >>> name_of("/releases/2026-11.desktop.local.tcp.web/v1/measures/pages"), name_of("/reports/2026/v1/figures/cdf")
    ('measure', 'figure')
    """
    for part, name in PARTS.items():
        if part in path:
            return name
    for beginning, name in NAMES.items():
        if path == beginning or (len(beginning) > 1 and path.startswith(beginning)):
            return name
    return path.strip("/").replace("/", "-")


def pictures(data_dir: Path) -> Iterator[Picture]:
    """Every page of the service over the recorded pages and the edition, each way; the edition's parts and sheets, the lab, and the explorer of a demo."""
    site, (demo, choices) = recorded_site(data_dir / "recorded"), demo_site(data_dir / "demo")
    with TestClient(site.app, raise_server_exceptions=False) as client, launched() as browser:
        for path in addresses(site.app, client, examples=site.examples):
            with opened(browser, client, path) as page:
                yield from in_ways(page, name_of(path))
                if name_of(path) == "edition":
                    yield from pictures_of_the_edition(browser, page)
        yield from pictures_of_the_lab(browser, client, site)
        with TestClient(demo) as client:
            for name, address in choices.items():
                with opened(browser, client, address) as page:
                    yield from in_ways(page, name, OF_CHOICES[name])


def pictures_of_the_edition(browser: Browser, page: Page) -> Iterator[Picture]:
    """Parts of the edition further down, its first sheets as a browser prints them, and the first sheet of its PDF."""
    for width, scheme in EACH_ONCE:
        page.set_viewport_size(SIZES[width])
        page.emulate_media(color_scheme=scheme)
        for name, element in OF_EDITION.items():
            page.locator(element).evaluate("element => element.scrollIntoView({behavior: 'instant'})")
            yield Picture(f"edition/{name}-{width}-{scheme}.webp", webp(page))
    page.emulate_media(color_scheme="light")
    printed = page.pdf(prefer_css_page_size=True)
    for sheet in SHEETS:
        yield Picture(f"edition/print-{sheet}.webp", on_paper(browser, printed, sheet=sheet))
    made = (EDITION / "forms" / "report.pdf").read_bytes()
    yield Picture("edition/paper.webp", on_paper(browser, made, sheet=1))


def pictures_of_the_lab(browser: Browser, client: TestClient, site: Site) -> Iterator[Picture]:
    """A recorded page that waits for another in the lab's queue, and the result of its replay."""
    recorded = client.get(f"/v1/pages/{PAGE}", params={"crawl": site.examples["crawl"]})
    first, second = (give(client, har(recorded.json())) for _ in range(2))
    with opened(browser, client, second) as page:
        yield from in_ways(page, "lab-queue")
    site.lab.may_begin.set()
    wait_for(client, first)
    with opened(browser, client, first) as page:
        yield from in_ways(page, "lab-result")


def in_ways(page: Page, name: str, ways: Sequence[tuple[int, Scheme]] = EACH_WAY) -> Iterator[Picture]:
    """The first screen of a page, or that which begins with its element of BEGINS, in sizes and schemes."""
    for width, scheme in ways:
        page.set_viewport_size(SIZES[width])
        page.emulate_media(color_scheme=scheme)
        page.locator(BEGINS.get(name, "body")).evaluate("element => element.scrollIntoView()")
        yield Picture(f"{name}/{width}-{scheme}.webp", webp(page))


def webp(page: Page) -> bytes:
    """What the page shows, as WebP, which Playwright itself does not write."""
    session = page.context.new_cdp_session(page)
    taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    session.detach()
    return base64.b64decode(taken["data"])


def on_paper(browser: Browser, pdf: bytes, *, sheet: int) -> bytes:
    """A sheet of a PDF, from 1 on."""
    number = str(sheet)
    call = ["pdftoppm", "-png", "-r", str(PAPER_DPI), "-f", number, "-l", number, "-singlefile", "-"]
    try:
        done = subprocess.run(call, input=pdf, capture_output=True, check=True)
    except FileNotFoundError as exc:
        raise ScreensError("pdftoppm is missing: apt-get install poppler-utils") from exc
    except subprocess.CalledProcessError as exc:
        raise ScreensError(f"pdftoppm cannot read a PDF: {exc.stderr.decode().strip()}") from exc
    # Width and height of a PNG: the first two numbers of its header.
    width, height = (int.from_bytes(done.stdout[at : at + 4], "big") for at in (16, 20))
    page = browser.new_page(viewport={"width": width, "height": height})
    drawn = base64.b64encode(done.stdout).decode()
    page.set_content(f'<body style="margin: 0"><img src="data:image/png;base64,{drawn}">')
    return webp(page)


def write(folder: Path, taken: Mapping[str, bytes]) -> int:
    """Put the pictures in the place of the folder's; returns their size in kB. ScreensError if they are too large."""
    size = sum(map(len, taken.values())) // 1000
    if size > MOST_KB:
        raise ScreensError(f"the pictures take {size} kB, at most {MOST_KB} kB may be kept")
    shutil.rmtree(folder, ignore_errors=True)
    for path, content in taken.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return size


def main() -> None:
    """Take the pictures and write them."""
    parser = argparse.ArgumentParser(description=__doc__, prog="scripts/screenshots")
    parser.add_argument(
        "--to", type=Path, default=PICTURES, help="folder that is replaced [default: docs/images/screens]"
    )
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as data_dir:
        Path(data_dir).chmod(0o755)  # the demo's database runs as another user when this is root
        try:
            taken = {one.path: one.webp for one in pictures(Path(data_dir))}
            size = write(asked.to, taken)
        except (ScreensError, ReplayFailed, subprocess.CalledProcessError) as exc:
            parser.exit(1, f"scripts/screenshots: {exc}\n")
    print(f"{len(taken)} pictures, {size} kB: {asked.to}")


if __name__ == "__main__":
    main()
