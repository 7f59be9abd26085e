"""The first screen of a report: what the verdict says, its numbers, and what closes an open question."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from releases.formatting import grouped, quantity
from reports.sections.sizes.counts import Measure
from verdict.headline import confidence_text
from verdict.judgement import Kind
from verdict.stored import VerdictFacts, rival_of

Level = Literal["none", "low", "medium", "high"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidence:
    """How far the answer can be relied on."""

    level: Level
    because: str

    @property
    def text(self) -> str:
        """The confidence with its reasons."""
        return confidence_text(self.level, self.because)


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
    """Bound that the value is held against."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """What would settle an open question."""

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
    """The answer in one sentence, the verdict's; what fits where no loads tell of larger windows."""
    iw: int | str | None
    """The recommended window; None without an answer."""
    sentence: str
    """What follows the headline."""
    confidence: Confidence
    numbers: tuple[KeyNumber, ...]
    reasons: tuple[str, ...]
    deciding: Deciding | None
    differs: str = ""
    """For which lines the answer differs; empty if for none."""


def answer_of(
    verdict: VerdictFacts | None,
    *,
    illustrative_because: Sequence[str],
    limits: str | None,
    fits: KeyNumber,
    command: str,
) -> Answer:
    """Return the answer by a verdict, as verdict.json has it; None without a replay. `command` would load
    more."""
    first_line = illustrative_sentence(illustrative_because) if illustrative_because else None
    if verdict is None:
        return Answer(
            first_line=first_line,
            limits=limits,
            kind="no answer",
            headline=_what_fits(fits) or "What fits is not known.",
            iw=None,
            sentence="No page was replayed, so that what larger windows save and send again is not known.",
            confidence=Confidence(level="none", because="No page was replayed."),
            numbers=(fits,),
            reasons=(),
            deciding=Deciding(what="A replay of the pages tells what larger windows save.", command=command),
        )
    kind = verdict["kind"]
    headline, (sentence, *differs) = verdict["headline"], (verdict["sentences"] or [""])
    known = None if verdict.get("is_told", True) else _what_fits(fits)
    closing = verdict["closing"]
    return Answer(
        first_line=first_line,
        limits=limits,
        kind=kind,
        headline=known or headline,
        iw=None if kind == "no answer" else verdict["window"],
        sentence=f"{headline} {sentence}" if known else sentence,
        differs=" ".join(differs),
        confidence=Confidence(
            level=verdict["confidence"] or "none",
            because="Nothing is claimed."
            if kind == "no answer"
            else " ".join(reason["sentence"] for reason in verdict["reasons"]) or "All is settled.",
        ),
        numbers=(fits, *_numbers(verdict)),
        reasons=tuple(
            f"IW {candidate['window']} is {candidate['verdict']}." for candidate in verdict["candidates"]
        ),
        deciding=Deciding(what=" ".join(need["sentence"] for need in closing), command=command)
        if closing
        else None,
    )


def _what_fits(fits: KeyNumber) -> str | None:
    """Return how much fits, as a sentence; None if it is unknown."""
    return None if fits.value is None else f"{quantity(fits.value, fits.unit, 2)} {fits.label}."


def illustrative_sentence(because: Sequence[str]) -> str:
    """State what stands before illustrative numbers."""
    return f"These numbers are illustrative, and no evidence about the live web: {'; '.join(because)}."


def _numbers(verdict: VerdictFacts) -> tuple[KeyNumber, ...]:
    rival = rival_of(verdict)
    if rival is None:
        return ()
    name, incumbent = f"IW {rival['window']}", f"IW {verdict['rule']['incumbent']}"
    saved = f"of page time saved by {name} against {incumbent}"
    again = f"more of the payload sent again by {name} than by {incumbent}"
    over = f"over {grouped(rival['pairs'])} pairs of loads"
    times = rival["gain_percent"]["estimate"], rival["milliseconds"]["estimate"]
    weights = "; the mean over pages, where long ones count more" if _differ_in_sign(*times) else ""
    effects = (
        ("gain", saved, "%", rival["gain_percent"], verdict["rule"]["worthwhile_percent"], over),
        ("milliseconds", saved, "ms", rival["milliseconds"], None, over + weights),
        ("resent", again, "pp", rival["resent_pp"], None, over),
    )
    return tuple(
        KeyNumber(
            id=each,
            label=label,
            unit=unit,
            value=effect["estimate"],
            lower=effect["lower"],
            upper=effect["upper"],
            limit=limit,
            note=note,
        )
        for each, label, unit, effect, limit, note in effects
    )


def _differ_in_sign(first: float | None, second: float | None) -> bool:
    """Return whether one is above and one below zero."""
    return first is not None and second is not None and first * second < 0


FITTING = {"first_flights": "first flights", "responses": "responses"}
"""Measures whose share that fits is one of the numbers, by name: the second where the first is unknown."""


def fits_number(measures: Sequence[Measure], *, iw: int) -> KeyNumber:
    """Return the share of first flights that fit into a window, or of responses, and labelled so,
    where most first flights are of unknown size.

    `measures` are those of report.json's `sizes`. Unknown, with the counts, where most sizes of both are.
    """
    by_id = {measure["id"]: measure for measure in measures}
    stated = next((name for name in FITTING if by_id[name]["is_stated"]), None)
    lacking = by_id["first_flights"]
    why = (
        f"the size is known of {grouped(lacking['known'])} of "
        f"{grouped(lacking['known'] + lacking['unknown'])} first flights"
    )
    if stated is None:
        label = f"of first flights fit into {iw} segments"
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
        label=f"of {FITTING[stated]} fit into {iw} segments",
        unit="%",
        value=share["percent"],
        lower=share["lower_percent"],
        upper=share["upper_percent"],
        note="; ".join(notes),
    )
