"""The headline: one of four, which are never mixed, with its sentence,
its confidence and what stands before it."""

from collections.abc import Iterator, Sequence

from releases.formatting import interval_text
from reports.answer.key_numbers import key_numbers, rival
from reports.answer.shape import Answer, Confidence, Deciding, Findings, KeyNumber, Kind
from reports.backcast.stored import Standing

NOT_ALLOWED = "Not allowed to say"

INVALID = {
    True: "the method has not passed its test on 2010",
    False: "the method failed its test on 2010",
}
"""Why nothing may be said, by whether there is no back-cast."""


def answer(
    findings: Findings | None,
    *,
    instrument: Standing,
    illustrative_because: Sequence[str],
    limits: str | None,
    fits: KeyNumber,
    replay_command: str,
) -> Answer:
    """The answer. `findings` are None without a replay.

    `limits` are those of recorded pages; `replay_command` would make a replay.
    """
    if findings is None:
        return _without_replay(fits, replay_command, illustrative_because, limits)
    forbidden = [reason for reason, _ in _forbidden(findings, instrument, illustrative_because)]
    kind = _kind(findings, forbidden)
    return Answer(
        first_line=" ".join(told for _, told in _forbidden(findings, instrument, illustrative_because))
        or None,
        limits=limits,
        kind=kind,
        headline=_headline(kind, findings),
        iw=findings.iw if kind == "recommended" else None,
        sentence=_forbidden_sentence(forbidden, findings) if forbidden else rule_sentence(findings),
        confidence=_confidence(kind, is_recorded=limits is not None),
        numbers=(fits, *key_numbers(findings)),
        reasons=findings.reasons,
        deciding=findings.deciding if kind == "undecided" else None,
    )


def _forbidden(
    findings: Findings, instrument: Standing, illustrative_because: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Why nothing may be recommended or confirmed, in a clause and in a sentence of its own;
    nothing if it may."""
    if not instrument.is_valid:
        yield INVALID[instrument.content is None], instrument_sentence(instrument)
    if illustrative_because:
        yield "; ".join(illustrative_because), illustrative_sentence(illustrative_because)
    if not findings.is_sound:
        differs = f"IW {findings.incumbent} differs from itself with other seeds"
        yield differs, f"The replay failed its own check: {differs}."


def _kind(findings: Findings, forbidden: Sequence[str]) -> Kind:
    return "not allowed" if forbidden else _kind_by_rule(findings)


def _kind_by_rule(findings: Findings) -> Kind:
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


def illustrative_sentence(because: Sequence[str]) -> str:
    """What stands before illustrative numbers."""
    return f"These numbers are illustrative, and no evidence about the live web: {'; '.join(because)}."


def instrument_sentence(instrument: Standing) -> str:
    """What the back-cast says of a replay that is not valid, in one plain sentence;
    what was missed is in its section."""
    content = instrument.content
    if content is None:
        return (
            "The instrument is not shown to be valid for this: "
            "in its present form the method has not been asked about 2010."
        )
    decisive = [one for one in content["figures"] if one["decides"]]
    missed = sum(not one["is_met"] for one in decisive)
    rejected = "would have rejected IW 10, today\u2019s initial window"
    if content["admission"]["is_admitted"]:
        told = (
            f"the same method, asked about 2010, misses {missed} of {len(decisive)} "
            "effects that were measured then"
        )
    elif missed:
        told = f"the same method, asked about 2010, {rejected}"
    else:
        told = (
            f"asked about 2010, the replay shows the effects that were measured then, but the rule {rejected}"
        )
    return f"The instrument is not valid for this: {told}."


def _forbidden_sentence(forbidden: Sequence[str], findings: Findings) -> str:
    """Why there is no answer, and what the rule says of the findings by itself."""
    told = _headline(_kind_by_rule(findings), findings)
    return (
        f"No answer, because {'; '.join(forbidden)}. By itself the rule would say \u201c{told}\u201d. "
        f"{rule_sentence(findings)}"
    )


def rule_sentence(findings: Findings) -> str:
    """What the rule says of the findings, with the interval of the gain that it rests on."""
    window = rival(findings)
    cell = None if window is None else findings.gain(window)
    if window is None or cell is None or cell.value is None:
        return f"No candidate could be compared with IW {findings.incumbent}."
    gain = (
        f"{interval_text(cell.value, '%', near=[findings.rows[0].limit])} of page time "
        f"against IW {findings.incumbent}"
    )
    if not findings.is_decided:
        return f"The evidence does not suffice yet. IW {window} comes nearest, and saves {gain}."
    if findings.iw is None:
        return (
            f"No other window both saves enough and harms little: IW {window} comes nearest, "
            f"and saves {gain}."
        )
    return f"IW {window} saves {gain}, and is shown to keep every bound on harm."


def _confidence(kind: Kind, *, is_recorded: bool) -> Confidence:
    if kind == "not allowed":
        return Confidence(level="none", because="nothing is claimed")
    if kind == "undecided":
        return Confidence(level="low", because="the evidence does not suffice for an answer")
    if is_recorded:
        return Confidence(
            level="moderate",
            because="the rule is settled and its method passed its test on 2010, "
            "but somebody else recorded the pages",
        )
    return Confidence(
        level="high",
        because="the rule is settled, its method passed its test on 2010, "
        "and pages and networks are of this year",
    )


def _without_replay(
    fits: KeyNumber, replay_command: str, illustrative_because: Sequence[str], limits: str | None
) -> Answer:
    """The answer of a report of sizes alone."""
    return Answer(
        first_line=illustrative_sentence(illustrative_because) if illustrative_because else None,
        limits=limits,
        kind="undecided",
        headline="Undecided",
        iw=None,
        sentence="This report has sizes alone: it was built without a replay, so that gains and harms of "
        "windows are not measured.",
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
