"""Examination of a report's replay, whether of every page over every network or in stages:
what the rule finds of it."""

import dataclasses

from reports.answer import of_replay, of_stages
from reports.answer.choices_of_stages import choices_of
from reports.answer.key_numbers import rival
from reports.answer.shape import Findings
from reports.decision.stored_problem import StagedReplay
from reports.document.rebuilding import decision_command
from reports.document.replay_analysis import ReplayAnalysis, analyse, ledger_of
from reports.inputs.report_inputs import ReportInputs
from reports.recommendation.ledger import Entry
from reports.recommendation.rule import Rule


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Examination:
    """The findings, and the replay that they are of."""

    findings: Findings | None
    """None without a replay."""
    analysis: ReplayAnalysis | None
    """The replay of every page over every network, if it is one."""
    staged: StagedReplay | None
    """The replay in stages, if it is one."""
    beside: ReplayAnalysis | None = None
    """The full replay beside the stages: it has the arms and the ends of inputs that they lack,
    and decides nothing."""

    @property
    def ledger(self) -> list[Entry]:
        """Every input that could turn the answer: the rule's choices by the replay that decides,
        then inputs of the loads."""
        window = rival(self.findings) if self.findings else None
        if self.staged is None:
            return ledger_of(self.analysis, window=window) if self.analysis else []
        return [
            *choices_of(self.staged, window=window),
            *(ledger_of(self.beside, window=window, is_beside=True) if self.beside else ()),
        ]


def examine(inputs: ReportInputs, rule: Rule) -> Examination:
    """Judge the report's replay by `rule`; raises ReportError."""
    crawl = str(inputs.release.manifest.crawl)
    if inputs.staged:
        command = decision_command(crawl, inputs.staged)
        findings = of_stages.findings_of(inputs.staged.outcome, command=command)
        beside = analyse(inputs, inputs.replay, rule=rule) if inputs.replay else None
        return Examination(findings=findings, analysis=None, staged=inputs.staged, beside=beside)
    if inputs.replay is None:
        return Examination(findings=None, analysis=None, staged=None)
    analysis = analyse(inputs, inputs.replay, rule=rule)
    findings = of_replay.findings_of(
        analysis.recommendation,
        rule=analysis.rule,
        loads=sum(analysis.loads.states.values())
        + sum(sum(one.states.values()) for one in analysis.harm_loads.values()),
        pages=len(analysis.loads.pages),
        networks=len(analysis.loads.profiles),
        crawl=crawl,
    )
    return Examination(findings=findings, analysis=analysis, staged=None)
