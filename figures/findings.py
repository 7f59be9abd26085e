"""Sentences that the report and the service both state, by their numbers; none claims more than its intervals
do."""

from collections.abc import Mapping

from releases.formatting import grouped, listed, quantity
from schema.computed_tables import NOUNS

DRAWN = ("responses", "responses_iw_limited", "first_flights", "pages")
"""Measures that a figure of sizes has unless others are chosen."""

LEADING = ("first_flights", "responses")
"""Measures whose share a title tells: the second where the first is unknown."""


def tell_unfitting(share: float, measure: str, iw: int) -> str:
    """Say how much does not fit into a window, by the share that fits, from 0 to 1.

    >>> tell_unfitting(0.621, "responses", 10).replace("\\u202f", " ")
    '38 % of responses do not fit into 10 segments'
    """
    return f"{quantity(100 * (1 - share), '%', 2)} of {NOUNS[measure]} do not fit into {iw} segments"


def tell_incomplete(count: int, percent: float | None) -> str:
    """Say how many responses are counted apart since they did not end; empty if there are none.

    >>> tell_incomplete(1200, 4.5).replace("\\u202f", " ")
    '1 200 responses (4.5 %) broke off or had not ended when recording stopped; they are counted apart.'
    """
    if not count:
        return ""
    return (
        f"{grouped(count)} responses ({quantity(percent, '%', 2)}) broke off or had not ended when recording "
        "stopped; they are counted apart."
    )


def tell_change(signs: Mapping[int, int], *, sites: int, year: str) -> str:
    """Say into which windows fewer or more responses of the same sites fit than in an earlier year.

    `signs` has for each window -1 or 1 if the share is clearly smaller or larger by every way of counting
    headers, else 0; windows of which it is not clear are left out.

    >>> tell_change({3: -1, 10: 0, 30: -1}, sites=28, year="2019")
    'On the same 28 sites fewer responses fit into 3 and 30 segments than in 2019'
    >>> tell_change({10: 0}, sites=28, year="2019")
    'On the same 28 sites it cannot be told whether fewer responses fit than in 2019'
    """
    on = f"On the same {grouped(sites)} sites"
    for sign, word in ((-1, "fewer"), (1, "more")):
        windows = [str(iw) for iw, clear in signs.items() if clear == sign]
        if windows:
            return f"{on} {word} responses fit into {listed(windows)} segments than in {year}"
    return f"{on} it cannot be told whether fewer responses fit than in {year}"
