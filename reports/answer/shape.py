"""The shape of the answer: headline, one sentence, three numbers, the verdict matrix,
and what would decide an open question."""

from dataclasses import dataclass
from typing import Literal

from releases.interval import Interval

Kind = Literal["recommended", "stays", "undecided", "not allowed"]

Mark = Literal["holds", "fails", "open", "not measured", "beside"]
"""beside: measured by loads that decide nothing (`reports.answer.beside`)."""

MARKS: dict[Mark, str] = {
    "holds": "shown to hold",
    "fails": "not met",
    "open": "too few loads to tell",
    "not measured": "not measured",
}
"""Meaning of each mark of the verdict matrix."""

MARK_SIGNS: dict[Mark, str] = {"holds": "\u2713", "fails": "\u2717", "open": "?", "not measured": "\u2013"}
"""The signs that stand for the marks."""

Level = Literal["none", "low", "moderate", "high"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidence:
    """How far the answer can be relied on."""

    level: Level
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyNumber:
    """One of the three numbers that matter."""

    id: str
    label: str
    unit: str
    value: float | None
    """None if it is unknown; then `note` says why."""
    lower: float | None = None
    upper: float | None = None
    limit: float | None = None
    """Bound that the value is held against."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """What would settle an open question."""

    what: str
    """The statement that is open, in words."""
    loads: int | None
    """Further loads; None if it cannot be said."""
    core_hours: float | None
    """Their time on one core; half of it on two."""
    pages: int | None
    """Pages in all that would be needed, where the pages limit."""
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictCell:
    """A candidate against one bound."""

    window: int
    mark: Mark
    value: Interval | None
    """Estimate with its 95 % interval, in the row's unit;
    None if it was not measured by the loads that decide."""
    printed: Interval | None = None
    """Estimate with the bounds that the mark follows from, or with the 95 % interval of loads beside the
    decision; the matrix prints it."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRow:
    """A gain or a bound, with a cell for each candidate."""

    id: str
    title: str
    kind: Literal["gain", "harm"]
    unit: str
    limit: float
    """A gain must reach it; a harm must stay below it."""
    against: int
    """Window that the candidates are compared with."""
    is_level: bool
    """True if the candidate's own level is bounded, and not its worsening."""
    is_required: bool
    """False if the row is shown and decides nothing."""
    source: str
    cells: tuple[VerdictCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the rule says of a replay, however the replay was made."""

    incumbent: int
    windows: tuple[int, ...]
    """Candidates besides the incumbent."""
    iw: int | None
    """The window that the rule chooses; None for no change."""
    is_decided: bool
    """False if the evidence does not suffice."""
    is_sound: bool
    """False if the incumbent was found to differ from itself."""
    reasons: tuple[str, ...]
    rows: tuple[VerdictRow, ...]
    """The verdict matrix; gains come first."""
    deciding: Deciding | None
    """What would decide, if the evidence does not suffice."""
    loads: int
    pages: int
    networks: int
    notes: tuple[str, ...] = ()
    """How intervals and marks of the matrix are to be read."""

    def gain(self, window: int) -> VerdictCell | None:
        """The gain of a candidate over the incumbent."""
        cells = (cell for row in self.rows if row.kind == "gain" for cell in row.cells)
        return next((cell for cell in cells if cell.window == window), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The first screen of a report."""

    first_line: str | None
    """Warning that stands before everything: the instrument is not valid, or the inputs are illustrative."""
    limits: str | None
    """What recorded pages are and are not, in one sentence; None for a crawl of ours."""
    kind: Kind
    headline: str
    iw: int | None
    """The recommended window; None unless `kind` is "recommended"."""
    sentence: str
    confidence: Confidence
    numbers: tuple[KeyNumber, ...]
    reasons: tuple[str, ...]
    deciding: Deciding | None
