"""The candidates of the recommendation's rule: initial windows with and without pacing, each with its source.

Every report contains the ids, so renaming one breaks past reports.
"""

import dataclasses

from replay.runs.initial_window import Paced


@dataclasses.dataclass(frozen=True, slots=True)
class Candidate:
    """An initial window that could be recommended."""

    id: str
    window: int
    """In segments; paced windows are `replay.runs.initial_window.Paced`."""
    source: str


BURSTS: tuple[Candidate, ...] = (
    Candidate("iw3", 3, "RFC 3390 with an MSS of 1460; the baseline of Dukkipati et al. 2010"),
    Candidate("iw6", 6, "Dukkipati et al. 2010, Fig. 2"),
    Candidate("iw10", 10, "RFC 6928"),
    Candidate("iw16", 16, "Dukkipati et al. 2010, Fig. 2; HyStart begins at this window"),
    Candidate("iw26", 26, "Dukkipati et al. 2010, Fig. 2"),
    Candidate("iw30", 30, "in use by a content network, CDN Planet 2014; Baidu's experiment of 2018"),
    Candidate("iw42", 42, "Dukkipati et al. 2010, Fig. 2; the last below Linux's first receive window of 44"),
)
"""Candidates that leave as a burst."""

PACED = tuple(
    Candidate(
        f"iw{segments}-paced",
        Paced(segments),
        "paced first flights, as drafts for rapid start in today's IETF have them",
    )
    for segments in (10, 16, 20, 32, 44)
)
"""Candidates whose sender paces them, as Linux does under fq."""

CANDIDATES = tuple(sorted((*BURSTS, *PACED), key=lambda one: one.window))
"""In order of preference: fewer segments first, and the paced window before the burst of as many,
since it sends less at once."""
