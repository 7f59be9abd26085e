"""The method of a report in a page, its limits, and the words that it explains."""

import importlib.resources
import json
import re
from typing import Any

from releases.formatting import grouped, stated
from reports.sections.verdict import PACING
from verdict.stored import RuleFacts

TERMS = ("segment", "initial window (IW)", "first flight", "IW-limited", "page time", "illustrative")
"""Terms of the project's glossary that a report explains where it uses them."""

OWN_TERMS = {
    "paced": f"sent by a Linux that paces: it {PACING}; without pacing all is sent at once",
    "pp": "percentage points of the payload",
    "price": "payload sent again, in percentage points, for 1\u202f% of page time saved",
    "net benefit": "the rule\u2019s price times page time saved, less payload sent again",
    "back-cast": "the replay of the experiment of 2010, whose results are known",
    "pairs of loads": "loads of a page over the same network, one at IW 10 and one at another window",
}
"""Terms of reports alone."""

LIMITS: tuple[str, ...] = (
    "Page time is network time. The replay sends recorded sizes in recorded order; parsing, scripts and "
    "servers take no time.",
    "The replay requests a response as soon as the response that names it is complete, and then all that "
    "it names at once. Browsers request earlier and more spread out: bursts, and losses at the queue, are "
    "larger here.",
    "Each page is loaded once, with a cold cache, from one vantage; repeat visits and inner pages are left "
    "out.",
    "Linux receivers open with a window of 44 segments: larger initial windows have no effect until they "
    "raise it.",
    "No gain over TCP is scaled to QUIC, which needs measurements of its own.",
    "Intervals describe pages and networks like those measured, not those that the list, the vantage or "
    "failures left out.",
)
"""Limits of every edition."""


def method_of(mss_bytes: int, rule: RuleFacts | None) -> list[str]:
    """Return the method in a few paragraphs; without a replay, that of sizes alone."""
    paragraphs = [
        "Sizes. A browser loads the home page of each site once, and its log, or somebody else\u2019s "
        "recording, gives the size of every response inside TLS: headers, framing and encoded body. A "
        "response fits into a window if it has at most as many bytes as its segments of "
        f"{grouped(mss_bytes)} bytes, as in the paper of 2010. Intervals of shares are a bootstrap "
        "over sites."
    ]
    if rule is None:
        return paragraphs
    guards = "; ".join(
        f"{guard['what']}, at most {stated(guard['limit_percent'], '%')} longer" for guard in rule["guards"]
    )
    return [
        *paragraphs,
        "Replay. Each page becomes a recipe: its servers, connections and objects with their sizes, and "
        "which object asked for which. Recipes are loaded in a laboratory: the real Linux TCP stack in "
        "virtual machines, with one bottleneck of a stated rate, round trip and queue. Networks are drawn "
        "from published distributions of rates, round trips, distances of servers and queues, and senders "
        "by published shares of CUBIC at once, CUBIC paced and BBR. What was HTTP/3 keeps ten segments, "
        "since a TCP window does not act on it.",
        f"Comparison. A page is loaded over the same network at IW {rule['incumbent']} and at another "
        "window. Page time saved is one less the geometric mean of the ratios, weighted by networks; "
        f"payload sent again is the share beyond that at IW {rule['incumbent']}. Intervals count pages and "
        "networks as drawn at random.",
        f"Rule. Version {rule['version']}, written down before the loads that it decides on. A window is "
        "worth it if, over all windows together with 95\u202f%, it saves enough and its net benefit is not "
        "below zero; not worth it if either is excluded; otherwise open. A window that is worth it must keep "
        f"these limits: {guards}. The smallest that no larger one surpasses by "
        f"{stated(rule['worthwhile_percent'], '%')} is recommended; else IW {rule['incumbent']} stays.",
        "Calibration. A quantity that the back-cast misses by more than a factor of two cannot decide; where "
        "it so misses page time or payload sent again, the confidence is low. "
        f"IW {rule['incumbent']} held against itself must show no difference.",
    ]


def glossary_of(*parts: Any) -> dict[str, str]:  # noqa: ANN401  # parts of a report have any shape
    """Return the terms that parts of a report use, with their meanings."""
    text = json.dumps(parts, ensure_ascii=False)
    glossary = read_glossary()
    every = {**{term: glossary[term] for term in TERMS}, **OWN_TERMS}
    return {term: meaning for term, meaning in every.items() if pattern_of(term).search(text)}


def read_glossary() -> dict[str, str]:
    """Return the terms of docs/glossary.md with their meanings."""
    page = importlib.resources.files("docs").joinpath("glossary.md").read_text(encoding="utf-8")
    rows = (line.strip("|").split("|") for line in page.splitlines() if line.startswith("|"))
    return {term.strip(): meaning.strip() for term, meaning in rows}


def pattern_of(term: str) -> re.Pattern[str]:
    """State what a term looks like in a text.

    >>> pattern_of("initial window (IW)").search("two initial windows")[0], pattern_of("pp").search("happy")
    ('initial windows', None)
    """
    return re.compile(rf"\b{re.escape(term.partition(' (')[0])}s?\b")
