"""The method of a report in a page, its limits, and the words that it explains."""

import importlib.resources
import json
import re
from typing import Any

from releases.formatting import grouped, stated
from verdict.rule import Rule

TERMS = (
    *("segment", "initial window (IW)", "first flight", "IW-limited", "page time", "illustrative"),
    *("paced", "spread", "touched", "per load", "in sum", "price", "net benefit", "confirmed", "back-cast"),
)
"""Terms of the project's glossary that a report explains where it uses them."""

OWN_TERMS = {
    "pp": "percentage points of the payload",
    "pairs of loads": "loads of a page over the same network, one at ten segments and one by another policy",
}

LIMITS: tuple[str, ...] = (
    "Lists: home pages, each loaded once with a cold cache; other pages may differ by more than intervals "
    "say.",
    "Vantages: each list was loaded from one place; rates, round trips and queues are of published "
    "distributions.",
    "Dependencies are inferred, and scripts take no time: bursts, and what queues drop, are larger than a "
    "browser\u2019s.",
    "HTTP/3 is replayed by a stand-in, TCP that keeps ten segments: nothing is said of QUIC.",
)
"""Limits of every edition, in four lines."""


def method_of(mss_bytes: int, rule: Rule | None) -> list[str]:
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
        f"{guard.what}, at most {stated(guard.limit_percent, '%')} longer" for guard in rule.guards
    )
    incumbent = f"{rule.incumbent.window} segments"
    return [
        *paragraphs,
        "Replay. Each page becomes a recipe: its servers, connections and objects with their sizes, and "
        "which object asked for which. Recipes are loaded in a laboratory: the real Linux TCP stack in "
        "virtual machines, with one bottleneck of a stated rate, round trip and queue. Networks are drawn "
        "from published distributions of rates, round trips, distances of servers and queues, and senders "
        "by published shares of CUBIC at once, CUBIC paced and BBR. What was HTTP/3 keeps ten segments, "
        "since a TCP window does not act on it.",
        "Linux receivers open with a window of 44 segments: more has no effect until they raise it.",
        f"Comparison. A page is loaded over the same network, with the same random events, at {incumbent} "
        "and by "
        "another policy. Per load, page time saved is one less the geometric mean of the ratios, and "
        "payload sent "
        "again the mean difference of the loads\u2019 shares; in sum, both are ratios of sums. Loads count "
        "by the "
        "weights of their networks. Intervals count sites and networks as drawn at random.",
        f"Rule. Version {rule.version}, written down before the loads that it decides on. A policy is "
        "worth it if "
        f"its net benefit per load is not below zero, at {stated(rule.price_per_load_pp, 'pp')} for "
        "1\u202f%; it "
        f"saves at least {stated(rule.worthwhile_percent, '%')} where it applies; and its net benefit in "
        "sum, at "
        f"{stated(rule.price_in_sum_pp, 'pp')}, does not refute it. Not worth it if either net benefit is "
        "below "
        f"zero; at the price if that per load lies within {stated(rule.zone_pp, 'pp')} of zero; otherwise "
        "open. "
        f"What is worth it must keep these limits: {guards}. Of what does, and is confirmed by every other "
        "list "
        "of pages, the one with the largest lower end of net benefit per load is recommended, or a smaller "
        f"window that comes near to it; else {incumbent} stay. Lists are never pooled.",
        "Calibration. A quantity that the back-cast misses by more than a factor of two cannot decide; where "
        "it so misses page time or payload sent again, the confidence is low. "
        f"{incumbent.capitalize()} held against themselves must show no difference.",
    ]


def glossary_of(*parts: Any) -> dict[str, str]:  # noqa: ANN401  # parts of a report have any shape
    text = json.dumps(parts, ensure_ascii=False)
    glossary = read_glossary()
    every = {**{term: glossary[term] for term in TERMS}, **OWN_TERMS}
    return {term: meaning for term, meaning in every.items() if pattern_of(term).search(text)}


def read_glossary() -> dict[str, str]:
    page = importlib.resources.files("docs").joinpath("glossary.md").read_text(encoding="utf-8")
    rows = (line.strip("|").split("|") for line in page.splitlines() if line.startswith("|"))
    return {term.strip(): meaning.strip() for term, meaning in rows}


def pattern_of(term: str) -> re.Pattern[str]:
    """Return what a term looks like in a text.

    >>> pattern_of("initial window (IW)").search("two initial windows")[0], pattern_of("pp").search("happy")
    ('initial windows', None)
    """
    return re.compile(rf"\b{re.escape(term.partition(' (')[0])}s?\b")
