"""Builds the annual report: analysis, figures and documents, put in place as one folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from releases.slow_start import WINDOWS
from replay.runs import replay_folder
from reports.document.illustrative import marks
from reports.document.render import render_html, render_text
from reports.document.replay_analysis import ReplayAnalysis, analyse
from reports.document.replay_figures import by_profile, page_time
from reports.document.report_content import canonical, report_content
from reports.document.report_inputs import ReportInputs
from reports.document.servers_figure import windows_figure
from reports.document.servers_section import servers_section
from reports.document.size_figures import cdf_figure
from reports.document.size_section import size_section
from reports.document.theme import LIGHT, svg
from reports.recommendation.rule import RULE, Rule
from storage.signatures import Signer
from storage.staging import put_in_place
from storage.sums import seal

if TYPE_CHECKING:
    import altair as alt

THIRD_WINDOW = 16
"""Window marked in the figure of sizes besides 3 and 10 segments, unless another window is recommended."""


def build_report(
    inputs: ReportInputs, folder: Path, *, commit: str, rule: Rule = RULE, signer: Signer | None = None
) -> dict[str, Any]:
    """Build the report's files in `folder`, which is replaced as a whole, and return the content of report.json.

    `commit` is the version of the code.
    """
    analysis = analyse(inputs, inputs.replay, rule=rule) if inputs.replay else None
    recommended = analysis.recommendation.iw if analysis else None
    windows = sorted({*WINDOWS, *([recommended] if recommended else [])})
    content = report_content(
        inputs,
        sizes=size_section(inputs.release, windows=windows),
        servers=servers_section(inputs.release),
        analysis=analysis,
    )
    charts = draw(inputs, analysis, content["servers"], note=marks(content) or None)
    figures = {name: svg(chart) for name, chart in charts.items()}
    with put_in_place(folder) as stage:
        (stage / "report.json").write_text(canonical(content), encoding="utf-8")
        (stage / "index.html").write_text(render_html(content, figures=figures), encoding="utf-8")
        (stage / "summary.txt").write_text(render_text(content), encoding="utf-8")
        manifest = {"kind": "report", "commit": commit, "rule_version": rule.version}
        seal(stage, {**manifest, **origin(inputs, content)})
        if signer is not None:
            signer.sign(stage)
    return content


def origin(inputs: ReportInputs, content: Mapping[str, Any]) -> dict[str, Any]:
    """The report's inputs with their checksums, and the code, kernel, programs and parameters of the replay."""
    release, replay = inputs.release, inputs.replay
    return {
        "format_version": content["format_version"],
        "year": inputs.year,
        "release": {"crawl": str(release.crawl), "version": release.version, "checksum": release.checksum},
        "replay": {"checksum": replay.checksum, **replay_folder.origin(replay.provenance)}
        if replay
        else None,
        "last_years_report": {"checksum": inputs.last_years_checksum} if inputs.last_years_checksum else None,
    }


def draw(
    inputs: ReportInputs,
    analysis: ReplayAnalysis | None,
    servers: Mapping[str, Any] | None,
    *,
    note: str | None,
) -> dict[str, alt.TopLevelMixin]:
    """Draw the report's figures by name, ready for SVG, PNG and Vega-Lite; `note` marks each."""
    recommended = analysis.recommendation.iw if analysis else None
    third = recommended if recommended and recommended not in (3, 10) else THIRD_WINDOW
    theme = dataclasses.replace(LIGHT, background="transparent")
    cdf = cdf_figure(inputs.release, windows=(3, 10, third), title=note, theme=theme)
    cdf.config.legend.columnPadding = 28  # the reader's font may be wider than vl-convert's
    figures: dict[str, alt.TopLevelMixin] = {"cdf": cdf}
    if servers and servers["exact"]:
        figures["initial_windows"] = windows_figure(servers, note=note)
    if analysis is None:
        return figures
    results, incumbent = analysis.results, analysis.recommendation.incumbent
    figures["saved"] = by_profile(results, "saved_percent", title="page time saved, %", note=note)
    figures["retransmitted"] = by_profile(
        results, "retransmitted_percent", title="payload sent again, %", note=note
    )
    for profile in {one.profile for one in results}:
        panel = [one for one in results if one.profile == profile]
        figures[f"page_time:{profile}"] = page_time(panel, incumbent=incumbent, note=note)
    return figures
