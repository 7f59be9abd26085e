"""Standing texts of a report, the same in every edition."""

from __future__ import annotations

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
