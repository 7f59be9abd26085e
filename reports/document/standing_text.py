"""The standing texts of a report, each true of every edition, and how its sentences spell an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from releases.interval import Interval


def spell(interval: Interval, unit: str) -> str:
    """An interval for a sentence.

    >>> from reports.statistics.bootstrap import Interval
    >>> spell(Interval(2.345, 1.0, 3.5), "%")
    '2.35 % [1.00, 3.50]'
    """
    return f"{interval.estimate:.2f} {unit} [{interval.lower:.2f}, {interval.upper:.2f}]".replace(
        "-", "\u2212"
    )


GLOSSARY: dict[str, str] = {
    "segment": "one TCP segment; a full one carries MSS bytes of payload",
    "initial window (IW)": "the congestion window of a new connection, in segments (RFC 6928)",
    "flight": "what a sender sends before the first acknowledgement of it returns",
    "first flight": "the server's TCP payload for everything asked of a connection before the first acknowledgement of response data could return",
    "IW-limited": "said of a response at whose beginning the congestion window, by Linux's rule, was still the initial one",
    "wire bytes": "header, framing and encoded body of one response, inside TLS",
    "page": "the home page of a site, with everything that it loads",
    "profile": "one access network: rates, round-trip time, queue",
    "population": "profiles with weights",
    "cell": "one load: one page over one profile at one IW, with one congestion control and one seed",
    "page time": "from the first SYN to the last byte of the page's payload",
    "gain": "the ratio of population-weighted mean page times, candidate against incumbent, as percent saved",
    "incumbent": "the window in force: last year's, or IW 10 where no report with force came before",
    "admissible": "said of a candidate for which every harm bound that was measured holds",
    "worthwhile": "said of a candidate whose gain has a lower bound at or above the rule's",
    "illustrative": "not evidence about the live web: from the bundled local web, or from populations more than 24 months old",
}

LIMITS: tuple[str, ...] = (
    "Page time is network time. The replay sends recorded sizes in recorded order; parsing, scripts and servers take no time in it.",
    "A response is asked for when the whole response that names it has arrived, and all that it names at once; browsers ask earlier and spread out. Bursts, and the losses of the bottleneck's one queue, are larger for it than on the web: the retransmission margins come from servers that saw far fewer.",
    "A page is loaded once, with a cold cache, from one vantage. Repeat visits and inner pages are not in the estimand.",
    "Linux receivers open with a window of 44 segments: a larger initial window has no effect on them until they raise it.",
    "The senders are Linux with the stated congestion control, without pacing. BBR and paced senders spread the first flight; QUIC is asked separately and no TCP gain is scaled to it.",
    "CUBIC's HyStart works from a window of 16 on: larger initial windows begin inside it.",
    "A gain is measured where the candidate alone changes its window. That everyone changes at once is among the harm conditions, and there it is harm that counts.",
    "The bootstrap speaks of pages like these. It knows nothing of pages that the list, the vantage or the crawl's failures left out.",
)
"""Of every edition."""
