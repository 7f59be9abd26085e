"""Findings from a replay of every page over every network:
the recommendation's candidates as a verdict matrix."""

import itertools
import math
from collections.abc import Iterator, Sequence

from releases.formatting import stated
from reports.answer.shape import Deciding, Findings, Mark, VerdictCell, VerdictRow
from reports.recommendation.candidate_verdicts import CandidateVerdict
from reports.recommendation.harm_verdicts import HarmVerdict, Verdict
from reports.recommendation.mixture import ORDINARY
from reports.recommendation.recommend import Recommendation
from reports.recommendation.rule import Rule

MARK_OF: dict[Verdict, Mark] = {
    "passed": "holds",
    "failed": "fails",
    "too few loads": "open",
    "not measured": "not measured",
}

NOTES = (
    "Brackets are 95 % intervals over pages, which hold together for all candidates of a row.",
    "A bound that is not met: the loads would have shown a harmless candidate to stay below it, "
    "and did not show this one.",
)


def findings_of(
    found: Recommendation, *, rule: Rule, loads: int, pages: int, networks: int, crawl: str
) -> Findings:
    """What the rule says of a whole replay of the crawl."""
    others = [one for one in found.candidates if one.candidate.window != found.incumbent]
    failed = [check for check in found.checks if not check.passed]
    return Findings(
        incumbent=found.incumbent,
        windows=tuple(one.candidate.window for one in others),
        iw=found.iw,
        is_decided=found.is_decided,
        is_sound=not any(check.is_proved for check in failed),
        reasons=found.reasons,
        rows=tuple(itertools.chain([gain_row(others, found.incumbent, rule)], harm_rows(found.candidates))),
        deciding=None
        if found.is_decided
        else Deciding(
            what=failed[0].title,
            loads=None,
            core_hours=None,
            pages=None,
            command=f"firstflight replay run --crawl {crawl} --until decided --plan",
        ),
        loads=loads,
        pages=pages,
        networks=networks,
        notes=NOTES,
    )


def gain_row(candidates: Sequence[CandidateVerdict], incumbent: int, rule: Rule) -> VerdictRow:
    """Gains over the incumbent against the least that is worthwhile."""
    return VerdictRow(
        id="gain",
        title="page time saved",
        kind="gain",
        unit="%",
        limit=rule.worthwhile_percent,
        against=incumbent,
        is_level=False,
        is_required=True,
        source="ours: a change must be worth its trouble",
        cells=tuple(_gain(one, rule.worthwhile_percent) for one in candidates),
    )


def _gain(one: CandidateVerdict, worthwhile: float) -> VerdictCell:
    gain = one.gain_percent
    mark: Mark = "not measured"
    if gain is not None:
        mark = "holds" if one.is_worthwhile else "fails" if gain.upper < worthwhile else "open"
    return VerdictCell(window=one.candidate.window, mark=mark, value=gain, printed=gain)


def harm_rows(candidates: Sequence[CandidateVerdict]) -> Iterator[VerdictRow]:
    """A row for each margin and the window that it compares with, required ones first."""
    cells: dict[tuple[str, int], list[tuple[int, HarmVerdict]]] = {}
    for one in candidates:
        for harm in one.harms:
            cells.setdefault((harm.margin.id, harm.against), []).append((one.candidate.window, harm))
    for (name, against), some in sorted(cells.items(), key=lambda item: not item[1][0][1].margin.is_required):
        first = some[0][1]
        yield VerdictRow(
            id=name,
            title=first.margin.title,
            kind="harm",
            unit=first.margin.unit,
            limit=first.limit,
            against=against,
            is_level=first.is_level,
            is_required=first.margin.is_required,
            source=first.margin.source,
            cells=tuple(_harm(window, harm, first) for window, harm in some),
        )


def _harm(window: int, harm: HarmVerdict, first: HarmVerdict) -> VerdictCell:
    notes = [] if harm.condition == ORDINARY or harm.worsening is None else [harm.condition]
    if harm.reason:
        notes.append(harm.reason)
    if not math.isclose(harm.limit, first.limit):
        notes.append(f"bound {stated(harm.limit, harm.margin.unit)}")
    return VerdictCell(
        window=window,
        mark=MARK_OF[harm.verdict],
        value=harm.worsening,
        printed=harm.worsening,
        note="; ".join(notes),
    )
