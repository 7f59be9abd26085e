"""The annual report: read, decide, draw, and put the whole folder in place in one step."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from releases.slow_start import WINDOWS
from replay.runs import replay_folder
from reports.document.figures import LIGHT, cdf_figure, svg
from reports.document.render import render_html, render_text
from reports.document.replay_figures import by_profile, page_time
from reports.document.report_content import ReplayAnalysis, canonical, measure, report_content
from reports.document.size_facts import size_facts
from reports.recommendation.rule import RULE, Rule
from storage.staging import put_in_place
from storage.sums import seal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from reports.document.report_inputs import Replay, ReportInputs
    from storage.signatures import Signer

THIRD_WINDOW = 16
"""The line beside those of 3 and 10 segments where no other window is recommended."""


def build_report(
    inputs: ReportInputs, folder: Path, *, commit: str, rule: Rule = RULE, signer: Signer | None = None
) -> dict[str, Any]:
    """Make the report's files in `folder`, which is replaced as a whole; its facts. `commit` is the code's."""
    measured = measure(inputs, inputs.replay, rule=rule) if inputs.replay else None
    recommended = measured.recommendation.iw if measured else None
    windows = sorted({*WINDOWS, *([recommended] if recommended else [])})
    facts = report_content(inputs, sizes=size_facts(inputs.release, windows=windows), measured=measured)
    figures = draw(inputs, measured, is_illustrative=facts["is_illustrative"])
    with put_in_place(folder) as stage:
        (stage / "report.json").write_text(canonical(facts), encoding="utf-8")
        (stage / "index.html").write_text(render_html(facts, figures=figures), encoding="utf-8")
        (stage / "summary.txt").write_text(render_text(facts), encoding="utf-8")
        seal(
            stage, {"kind": "report", "commit": commit, "rule_version": rule.version, **origin(inputs, facts)}
        )
        if signer is not None:
            signer.sign(stage)
    return facts


def origin(inputs: ReportInputs, facts: Mapping[str, Any]) -> dict[str, Any]:
    """What a report was made from, for its manifest: each input by its checksum."""
    release = inputs.release
    return {
        "format_version": facts["format_version"],
        "year": inputs.year,
        "release": {
            "crawl": str(release.crawl),
            "version": release.version,
            "checksum": release.checksum,
        },
        "replay": origin_of_replay(inputs.replay) if inputs.replay else None,
        "last_years_report": {"checksum": inputs.last_years_checksum} if inputs.last_years_checksum else None,
    }


def origin_of_replay(replay: Replay) -> dict[str, Any]:
    """The replay by its checksum, and what its own manifest says: code, kernel, programs, parameters."""
    return {"checksum": replay.checksum, **replay_folder.origin(replay.provenance)}


def draw(inputs: ReportInputs, measured: ReplayAnalysis | None, *, is_illustrative: bool) -> dict[str, str]:
    """SVG by name."""
    note = "illustrative" if is_illustrative else None
    recommended = measured.recommendation.iw if measured else None
    third = recommended if recommended and recommended not in (3, 10) else THIRD_WINDOW
    theme = dataclasses.replace(LIGHT, background="transparent")
    cdf = cdf_figure(inputs.release, windows=(3, 10, third), title=note, theme=theme)
    cdf.config.legend.columnPadding = 28  # a reader's font may be wider than the one that it was drawn with
    figures = {"cdf": svg(cdf)}
    if measured is None:
        return figures
    outcomes, incumbent = measured.outcomes, measured.recommendation.incumbent
    figures["saved"] = by_profile(outcomes, "saved_percent", title="page time saved, %", note=note)
    figures["retransmitted"] = by_profile(
        outcomes, "retransmitted_percent", title="payload sent again, %", note=note
    )
    for profile in {one.profile for one in outcomes}:
        panel = [one for one in outcomes if one.profile == profile]
        figures[f"page_time:{profile}"] = page_time(panel, incumbent=incumbent, note=note)
    return figures
