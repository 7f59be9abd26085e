"""The headline: one of four, which are never mixed, with its sentence, its confidence and what stands before it."""

from __future__ import annotations

from collections.abc import Sequence

from releases.formatting import interval_text
from reports.answer.key_numbers import key_numbers, rival
from reports.answer.shape import Answer, Confidence, Deciding, Findings, KeyNumber, Kind
from reports.backcast.stored import Standing

NOT_ALLOWED = "Not allowed to say"

INVALID = {
    True: "the instrument is not shown to be valid for this",
    False: "the instrument is not valid for this",
}
"""Why nothing may be said, by whether there is no back-cast."""


def answer(
    findings: Findings | None,
    *,
    instrument: Standing,
    illustrative_because: Sequence[str],
    is_recorded: bool,
    fits: KeyNumber,
    replay_command: str,
) -> Answer:
    """The answer. `findings` are None without a replay; `replay_command` would make one."""
    forbidden = _forbidden(findings, instrument, illustrative_because)
    if findings is None:
        return _without_replay(fits, replay_command, illustrative_because)
    kind = _kind(findings, forbidden)
    return Answer(
        first_line=_first_line(instrument, illustrative_because, findings),
        kind=kind,
        headline=_headline(kind, findings),
        iw=findings.iw if kind == "recommended" else None,
        sentence=_forbidden_sentence(forbidden) if kind == "not allowed" else rule_sentence(findings),
        rule_says=rule_sentence(findings) if kind == "not allowed" else None,
        confidence=_confidence(kind, is_recorded=is_recorded),
        numbers=(fits, *key_numbers(findings)),
        reasons=findings.reasons,
        deciding=findings.deciding if kind == "undecided" else None,
    )


def _forbidden(
    findings: Findings | None, instrument: Standing, illustrative_because: Sequence[str]
) -> list[str]:
    """Why nothing may be recommended or confirmed; empty if it may."""
    because = [] if instrument.is_valid else [INVALID[instrument.content is None]]
    because += illustrative_because
    if findings is not None and not findings.is_sound:
        because.append(f"IW {findings.incumbent} differs from itself with other seeds")
    return because


def _kind(findings: Findings, forbidden: Sequence[str]) -> Kind:
    if forbidden:
        return "not allowed"
    if not findings.is_decided:
        return "undecided"
    return "stays" if findings.iw is None else "recommended"


def _headline(kind: Kind, findings: Findings) -> str:
    return {
        "recommended": f"IW {findings.iw} is recommended",
        "stays": f"IW {findings.incumbent} stays",
        "undecided": "Undecided",
        "not allowed": NOT_ALLOWED,
    }[kind]


def _first_line(instrument: Standing, illustrative_because: Sequence[str], findings: Findings) -> str | None:
    if not instrument.is_valid:
        return instrument_sentence(instrument)
    if illustrative_because:
        return f"These numbers are illustrative: {'; '.join(illustrative_because)}."
    if not findings.is_sound:
        return (
            f"The replay failed its own check: IW {findings.incumbent} differs from itself with other seeds."
        )
    return None


def instrument_sentence(instrument: Standing) -> str:
    """What the back-cast says of the instrument, in plain words, with what was missed."""
    content = instrument.content
    if content is None:
        return f"The instrument is not shown to be valid for this. {instrument.sentence}"
    decisive = [one for one in content["figures"] if one["decides"]]
    missed = [one for one in decisive if not one["is_met"]]
    told = []
    if not content["admission"]["is_admitted"]:
        told.append("the rule would not have admitted IW 10 over IW 3")
    if missed:
        names = "; ".join(
            f"{one['what']}: {one['published']:.3g} {one['unit']} published, {one['ours']:.3g} measured"
            for one in missed
        )
        told.append(
            f"{len(missed)} of {len(decisive)} published figures were missed by more than a factor of {content['factor']:g} ({names})"
        )
    return f"The instrument is not valid for this: asked about the experiment of 2010, {', and '.join(told)}."


def _forbidden_sentence(forbidden: Sequence[str]) -> str:
    return f"No window is recommended or confirmed, because {'; and '.join(forbidden)}."


def rule_sentence(findings: Findings) -> str:
    """What the rule says of the findings, with the interval of the gain that it rests on."""
    window = rival(findings)
    cell = None if window is None else findings.gain(window)
    if window is None or cell is None or cell.value is None:
        return f"No candidate could be compared with IW {findings.incumbent}."
    gain = interval_text(cell.value, "%")
    if not findings.is_decided:
        waits = (
            f"{findings.deciding.what} is still open" if findings.deciding else "some bounds are still open"
        )
        return f"The evidence does not suffice yet: {waits}. IW {window} comes nearest, and saves {gain} of page time against IW {findings.incumbent}."
    if findings.iw is None:
        return f"The rule leaves IW {findings.incumbent} in force: no other window both saves enough and harms little. IW {window} comes nearest, and saves {gain} of page time."
    return f"The rule chooses IW {window}: it saves {gain} of page time against IW {findings.incumbent}, and every bound on harm is shown to hold."


def _confidence(kind: Kind, *, is_recorded: bool) -> Confidence:
    if kind == "not allowed":
        return Confidence(level="none", because="nothing is claimed")
    if kind == "undecided":
        return Confidence(level="low", because="the evidence does not suffice for an answer")
    if is_recorded:
        return Confidence(
            level="moderate",
            because="the rule is settled and the instrument valid, but somebody else recorded the pages, on one day",
        )
    return Confidence(
        level="high",
        because="the rule is settled, the instrument valid, and pages and networks are of this year",
    )


def _without_replay(fits: KeyNumber, replay_command: str, illustrative_because: Sequence[str]) -> Answer:
    """The answer of a report of sizes alone."""
    return Answer(
        first_line=f"These numbers are illustrative: {'; '.join(illustrative_because)}."
        if illustrative_because
        else None,
        kind="undecided",
        headline="Undecided",
        iw=None,
        sentence="This report has sizes alone: it was built without a replay, so that gains and harms of windows are not measured.",
        rule_says=None,
        confidence=Confidence(level="none", because="no replay"),
        numbers=(fits,),
        reasons=(),
        deciding=Deciding(
            what="gains and harms of all windows",
            loads=None,
            core_hours=None,
            pages=None,
            command=replay_command,
        ),
    )
