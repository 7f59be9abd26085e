"""The first screen of a report: what a server should do, for whom that differs, and how sure it is."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from figures.findings import LEADING
from releases.formatting import grouped, quantity
from reports.sections.sizes.counts import Measure
from reports.sections.verdict import COSTS, GAINS, asked_candidate, beside, is_known, policy_name
from schema.computed_tables import NOUNS
from verdict.estimates import MILLISECONDS
from verdict.judgement import Kind, Level
from verdict.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidence:
    """How far the answer can be relied on."""

    level: Level | Literal["none"]
    because: str

    @property
    def text(self) -> str:
        """The confidence with its reasons.

        >>> Confidence(level="low", because="The lines are of 2020").text
        'Confidence: low. The lines are of 2020.'
        """
        return f"Confidence: {self.level}. {self.because.rstrip('.')}."


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyNumber:
    """One of the numbers that matter."""

    id: str
    label: str
    unit: str
    value: float | None
    """None if it is unknown; then `note` says why."""
    lower: float | None = None
    upper: float | None = None
    limit: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """The loads that an open answer lacks, and the command that makes them."""

    what: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The first screen of a report."""

    first_line: str | None
    """Warning that stands before everything: the inputs are illustrative."""
    limits: str | None
    """What recorded pages are and are not, in one sentence; None for a crawl of ours."""
    kind: Kind
    headline: str
    """What a server should do, in one sentence, the verdict's; what fits where no loads tell of larger first
    flights."""
    policy: str | None
    sentences: tuple[str, ...]
    """What follows the headline: for whom it differs by round trip, and how sure it is, in words."""
    confidence: Confidence
    numbers: tuple[KeyNumber, ...]
    deciding: Deciding | None


def answer_of(
    verdict: Verdict | None,
    *,
    illustrative_because: Sequence[str],
    limits: str | None,
    fits: KeyNumber,
    command: str,
) -> Answer:
    """Return the answer by a verdict, if any; `command` would load more."""
    first_line = illustrative_sentence(illustrative_because) if illustrative_because else None
    if verdict is None:
        return Answer(
            first_line=first_line,
            limits=limits,
            kind="no answer",
            headline=_what_fits(fits) or "What fits is not known.",
            policy=None,
            sentences=(
                "No page was replayed, so that what larger windows save and send again is not known.",
            ),
            confidence=Confidence(level="none", because="No page was replayed."),
            numbers=(fits,),
            deciding=Deciding(what="A replay of the pages tells what larger windows save.", command=command),
        )
    is_answered = verdict.kind != "no answer"
    known = None if verdict.is_told else _what_fits(fits)
    because = " ".join(reason.sentence for reason in verdict.reasons) or "All is settled."
    may_close = is_answered and not verdict.is_settled
    return Answer(
        first_line=first_line,
        limits=limits,
        kind=verdict.kind,
        headline=known or verdict.headline,
        policy=str(verdict.policy) if is_answered else None,
        sentences=(*([verdict.headline] if known else []), *verdict.sentences),
        confidence=Confidence(
            level=verdict.confidence or "none", because=because if is_answered else "Nothing is claimed."
        ),
        numbers=(fits, *_numbers(verdict)),
        deciding=Deciding(what="Twice the loads may close what is open.", command=command)
        if may_close
        else None,
    )


def _what_fits(fits: KeyNumber) -> str | None:
    return None if fits.value is None else f"{quantity(fits.value, fits.unit, 2)} {fits.label}."


def illustrative_sentence(because: Sequence[str]) -> str:
    return f"These numbers are illustrative, and no evidence about the live web: {'; '.join(because)}."


def _numbers(verdict: Verdict) -> Iterator[KeyNumber]:
    asked = asked_candidate(verdict)
    if asked is None:
        return
    name, than = policy_name(asked.policy), f"{verdict.rule.incumbent.window} segments"
    saved = f"of page time saved by {name}"
    again = f"more of the payload sent again by {name}"
    over = f"over {grouped(asked.pairs)} pairs of loads, against {than}"
    for number_id, label, unit, quantity_id in (
        ("gain", f"{saved}, per load", "%", GAINS[0]),
        ("milliseconds", f"{saved}, a page", "ms", MILLISECONDS),
        ("resent", f"{again}, per load", "pp", COSTS[0]),
    ):
        effect = beside(asked, quantity_id)
        if effect is not None and is_known(effect):
            ends = [end if math.isfinite(end) else None for end in (effect.lower, effect.upper)]
            yield KeyNumber(
                id=number_id,
                label=label,
                unit=unit,
                value=effect.estimate,
                lower=ends[0],
                upper=ends[1],
                note=over,
            )


def fits_number(measures: Sequence[Measure], *, iw: int) -> KeyNumber:
    """Return the share of first flights that fit into a window, or of responses where most of those are
    unknown.

    `measures` are those of report.json's `sizes`.
    """
    by_id = {measure["id"]: measure for measure in measures}
    stated = next((name for name in LEADING if by_id[name]["is_stated"]), None)
    lacking = by_id["first_flights"]
    why = (
        f"the size is known of {grouped(lacking['known'])} of "
        f"{grouped(lacking['known'] + lacking['unknown'])} first flights"
    )
    label = f"of {NOUNS[stated or 'first_flights']} fit into {iw} segments"
    if stated is None:
        return KeyNumber(id="fits", label=label, unit="%", value=None, note=why)
    counted = by_id[stated]
    (share,) = (share for share in counted["shares"] if share["iw"] == iw)
    notes = [f"of {grouped(counted['known'])} of known size"]
    if counted["unknown"]:
        notes.append(f"{grouped(counted['unknown'])} more are unknown")
    if stated != "first_flights":
        notes.append(f"in place of first flights: {why}")
    return KeyNumber(
        id="fits",
        label=label,
        unit="%",
        value=share["percent"],
        lower=share["lower_percent"],
        upper=share["upper_percent"],
        note="; ".join(notes),
    )
