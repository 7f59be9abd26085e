"""Standing texts of a report, the same in every edition."""

from collections.abc import Sequence

TERMS = (
    "segment",
    "initial window (IW)",
    "flight",
    "first flight",
    "IW-limited",
    "wire bytes",
    "page",
    "profile",
    "population",
    "cell",
    "page time",
    "gain",
    "incumbent",
    "admissible",
    "worthwhile",
    "illustrative",
)
"""Terms of the glossary that a report explains."""

OWN_TERMS = {
    "nearest rival": "the recommended window; where none is, of the candidates whose gain may be worthwhile, the one whose worst harm "
    "is the smallest multiple of its bound, by the upper ends of the intervals; candidates that no bound has ruled out come first",
    "change of page time": "of one window or seed against another: the geometric mean over pages of the ratio of their page times, less 1, in "
    "percent; over networks by their weights. A gain is the change downwards",
}
"""Terms of reports alone, which the glossary of releases need not have."""


def months_limit(months: Sequence[str], month: str) -> str:
    """What one month of a year cannot tell; `months` are those of the year that have a release.

    >>> months_limit(["2026-10", "2026-11"], "2026-11")[:88]
    'The sizes are of one month, 2026-11. 10 months of 2026 have no release of the same kind '
    """
    every = [f"{month[:4]}-{number:02}" for number in range(1, 13)]
    missing = [one for one in every if one not in months]
    if not missing:
        return (
            f"The sizes are of one month, {month}; every month of {month[:4]} has a release of the same kind."
        )
    count = (
        f"{len(missing)} months of {month[:4]} have" if len(missing) > 1 else f"One month of {month[:4]} has"
    )
    return f"The sizes are of one month, {month}. {count} no release of the same kind ({', '.join(missing)}), so that the year cannot be told from its season."


LIMITS: tuple[str, ...] = (
    "Page time is network time. The replay sends recorded sizes in recorded order; parsing, scripts and servers take no time.",
    "The replay requests a response as soon as the response that names it is complete, and then all that it names at once. Browsers request earlier and more spread out. So bursts, and losses at the bottleneck's single queue, are larger than on the web; the retransmission margins come from servers with far fewer retransmissions.",
    "Each page is loaded once, with a cold cache, from one vantage. Repeat visits and inner pages are not part of the estimand.",
    "Linux receivers open with a window of 44 segments. A larger initial window has no effect until they raise it.",
    "The senders are Linux with the stated congestion control, and send a window at once unless it is called paced. BBR spreads the first flight, too. QUIC needs measurements of its own; no TCP gain is scaled to it.",
    "CUBIC's HyStart works from a window of 16 on, so larger initial windows start inside it.",
    "A gain is measured while only the page's servers change their window. Cells in which every sender changes are among the harm conditions, and count for harm alone.",
    "The bootstrap describes pages like those measured. It cannot describe pages that the list, the vantage or failures of the crawl left out.",
)
"""Limits of every edition."""
