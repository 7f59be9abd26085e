"""What is wrong with a page as a browser shows it: for assistive technology, for narrow screens,
and for the eye."""

import itertools
from collections.abc import Sequence
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from benchmarks.pages.browser import SCHEMES, SIZES, Scheme
from benchmarks.pages.loads import REFERENCE
from tests.circles import ALL

WAYS: Sequence[tuple[int, Scheme]] = (
    tuple(itertools.product(SIZES, SCHEMES)) if ALL else ((1280, "light"), (390, "dark"))
)
"""Widths of the screen, and colour schemes, in which pages are looked at: each once, and in
`scripts/test --all` each with each."""

LEAST_PX = 11
"""Least size of letters on the screen, in CSS pixels;
a drawing's letters by the scale at which it is shown."""

NODES = 5
"""Elements that are named for a fault, at most."""

SMALL_LABELS = """
least => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = new Set();
    while (texts.nextNode()) {
        const element = texts.currentNode.parentElement, range = document.createRange();
        range.selectNodeContents(texts.currentNode);
        const box = range.getBoundingClientRect();
        if (!texts.currentNode.data.trim() || box.width * box.height === 0) continue;
        const drawn = element instanceof SVGElement ? element.getScreenCTM() : null;
        const scale = drawn ? Math.sqrt(Math.abs(drawn.a * drawn.d - drawn.b * drawn.c)) : 1;
        const size = scale * parseFloat(getComputedStyle(element).fontSize);
        if (size < least) found.add(`${texts.currentNode.data.trim().slice(0, 40)}: ${size.toFixed(1)} px`);
    }
    return [...found];
}
"""


LOADED = """
() => matchMedia(`(width: ${innerWidth}px)`).matches && [...document.images].every(image => {
    const fits = source => !source.media || matchMedia(source.media).matches;
    const source = [...(image.closest("picture")?.querySelectorAll("source") ?? [])].find(fits);
    const wanted = source ? new URL(source.srcset.split(" ")[0], document.baseURI).href : image.currentSrc;
    return image.loading === "lazy" && !image.currentSrc || image.complete && image.currentSrc === wanted;
})
"""
"""Whether each image has loaded the drawing that is for this screen,
which a browser asks for some time after the screen has changed."""

SHRUNK = """
least => [...document.images]
    .filter(image => image.currentSrc.split(/[?#]/)[0].endsWith(".svg") && image.getBoundingClientRect().width < least * image.naturalWidth)
    .map(image => `${new URL(image.currentSrc).pathname}: ${image.naturalWidth} px shown as ${Math.round(image.getBoundingClientRect().width)}`)
"""  # noqa: E501

LEAST_SCALE = 0.9
"""Least scale at which a drawing in a file of its own is shown, whose letters nothing else looks at:
most have 12 px."""


def violations(page: Page) -> list[str]:
    """A line for each violation of axe-core's rules on the page as it is shown now; Swagger UI in the
    reference, which is the program of others, is left out."""
    context = {"exclude": [["#reference"]]} if urlsplit(page.url).path == REFERENCE else None
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in Axe().run(page, context=context).response["violations"]
        for node in violation["nodes"][:NODES]
    ]


def unreadable(page: Page) -> list[str]:
    """A line if the page is wider than its screen, for letters that are too small,
    and for drawings that are made smaller."""
    # At one moment: a script may put another drawing in between two.
    shrunk_once_loaded = f"least => ({LOADED})() && ({SHRUNK})(least)"
    shrunk = page.wait_for_function(shrunk_once_loaded, arg=LEAST_SCALE).json_value()
    width, shown = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    too_wide = [f"the page is {width} px wide on a screen of {shown} px"] if width > shown else []
    small = page.evaluate(SMALL_LABELS, LEAST_PX)
    return [
        *too_wide,
        *(f"letters below {LEAST_PX} px: {one}" for one in small[:NODES]),
        *(f"a drawing is made smaller: {one}" for one in shrunk[:NODES]),
    ]
