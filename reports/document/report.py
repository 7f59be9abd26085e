"""Builds the annual report: analysis, figures and documents, put in place as one folder."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import altair as alt
from altair.utils.schemapi import debug_mode

from releases.catalogue import Release
from releases.cdf import read_cdfs
from releases.slow_start import WINDOWS
from replay.runs import replay_folder
from replay.runs.initial_window import is_paced
from reports.answer import answer_of, fits_number
from reports.document.all_sections import stated_headline
from reports.document.citation import citation
from reports.document.drawing import draw_figure, flat, is_wide
from reports.document.figure_style import NARROW, WIDE
from reports.document.illustrative import illustrative_because, marks, recorded_limits
from reports.document.plane import NARROW_SHEET, SLIDE, SLIDE_SCALE, WIDE_SHEET, draw_plane
from reports.document.rebuilding import publishing_options, replay_command
from reports.document.render import render_brief, render_html
from reports.document.report_content import FORMAT_VERSION, canonical, content_digest, report_content
from reports.document.size_figures import cdf_figure
from reports.document.theme import LIGHT, bare, for_both_schemes, png, svg, vega_lite
from reports.forms.brief import brief_of
from reports.forms.figure_files import Drawn
from reports.forms.pdf import brief_pdf
from reports.forms.summary_text import summary_text
from reports.forms.write import FOLDER as FORMS
from reports.forms.write import write_forms
from reports.inputs.carried import carry_loads
from reports.inputs.replays import Replay
from reports.inputs.report_inputs import ReportInputs
from reports.sections.server_counts import servers_section
from reports.sections.sizes.counts import size_section
from storage.report_versions import CONTENT, PAGE, Publication
from storage.signatures import Signer
from storage.staging import put_new
from storage.sums import seal
from verdict.rule import RULE
from verdict.stored import rounded

FIRST = Publication()
"""Publication of a first version without a date."""


def compose(inputs: ReportInputs) -> dict[str, Any]:
    """The content of report.json without the fields OF_A_VERSION:
    it depends on the inputs and the code alone."""
    windows = {*WINDOWS, *(one for one in RULE.candidates if not is_paced(one))}
    counted = size_section(inputs.release, windows=sorted(windows))
    verdict = verdict_of_inputs(inputs)
    return report_content(
        inputs,
        counted=counted,
        servers=servers_section(inputs.release),
        verdict=verdict,
        answer=answer_of(
            verdict,
            illustrative_because=illustrative_because(inputs),
            limits=recorded_limits(inputs.release),
            fits=fits_number(counted.content["measures"], iw=RULE.incumbent),
            command=replay_command(inputs.release.manifest.crawl, {}),
        ),
    )


def verdict_of_inputs(inputs: ReportInputs) -> dict[str, Any] | None:
    """The verdict of the replay; None without one. Illustrative inputs have no answer."""
    if inputs.replay is None:
        return None
    broken = [f"The inputs are illustrative: {one}." for one in illustrative_because(inputs)]
    verdict: dict[str, Any] = rounded(inputs.replay.replayed.verdict(inputs.back_cast, broken=broken))
    return verdict


def build_report(
    inputs: ReportInputs,
    folder: Path,
    *,
    commit: str,
    signer: Signer | None = None,
    publication: Publication = FIRST,
) -> dict[str, Any]:
    """Build the report's files in the new folder `folder`, and return the content of report.json.

    `commit` is the version of the code. FileExistsError if the folder is there: a report is never replaced.
    """
    return write_report(
        inputs,
        compose(inputs),
        folder,
        facts=origin(inputs, commit=commit),
        signer=signer,
        publication=publication,
    )


def write_report(
    inputs: ReportInputs,
    composed: Mapping[str, Any],
    folder: Path,
    *,
    facts: Mapping[str, Any],
    signer: Signer | None,
    publication: Publication,
) -> dict[str, Any]:
    """Write the content from `compose` as `build_report` does; `facts` are the manifest's, from `origin`."""
    published = {**dataclasses.asdict(publication), "changed": [*publication.changed]}
    content = {
        **composed,
        "redo": [*composed["redo"][:-1], composed["redo"][-1] + publishing_options(publication)],
        "publication": published,
        "citation": citation(
            inputs.release,
            year=inputs.year,
            version=publication.version,
            date=publication.date,
            marks=marks(composed),
            is_illustrative=composed["is_illustrative"],
        ),
    }
    charts, for_phones = (
        {name: vega_lite(chart) for name, chart in drawn.items()}
        for drawn in draw(inputs, content, note=marks(content) or None)
    )
    figures, narrow = (
        {name: bare(svg(chart)) for name, chart in drawn.items()} for drawn in (charts, for_phones)
    )
    with put_new(folder) as stage:
        (stage / CONTENT).write_text(canonical(content), encoding="utf-8")
        page = render_html(content, figures=figures, narrow=narrow)
        (stage / PAGE).write_text(page, encoding="utf-8")
        drawn = {
            name: Drawn(svg=for_both_schemes(figures[name]), png=png(chart), vega_lite=chart)
            for name, chart in charts.items()
        }
        write_forms(stage / FORMS, content, marks=marks(content), charts=drawn)
        _write_brief(stage / FORMS, content)
        (stage / "summary.txt").write_text(summary_text(content, marks=marks(content)), encoding="utf-8")
        carry_loads(stage, inputs.replay, inputs.back_cast.content)
        seal(stage, {**facts, "publication": published, "content_sha256": content_digest(content)})
        if signer is not None:
            signer.sign(stage)
    return content


def _write_brief(folder: Path, content: Mapping[str, Any]) -> None:
    """Write the brief as a page and as PDF, and the slide."""
    brief = brief_of(content, marks=marks(content))
    with debug_mode(False):
        drawn = {
            sheet: vega_lite(draw_plane(content, brief, sheet)) for sheet in (WIDE_SHEET, NARROW_SHEET, SLIDE)
        }
    wide, narrow = (bare(svg(drawn[sheet])) for sheet in (WIDE_SHEET, NARROW_SHEET))
    page = render_brief(brief, wide=wide, narrow=narrow)
    (folder / "brief.html").write_text(page, encoding="utf-8")
    (folder / "brief.pdf").write_bytes(brief_pdf(brief, figure=wide))
    (folder / "slide.svg").write_text(bare(svg(drawn[SLIDE])), encoding="utf-8")
    (folder / "slide.png").write_bytes(png(drawn[SLIDE], scale=SLIDE_SCALE, is_exact=True))


def origin(inputs: ReportInputs, *, commit: str) -> dict[str, Any]:
    """The report's inputs with their checksums, the back-cast among them, and the code, kernel,
    programs and parameters of the replay."""
    return {
        "kind": "report",
        "commit": commit,
        "rule_version": RULE.version,
        "licence": inputs.release.manifest.licence,
        "format_version": FORMAT_VERSION,
        "year": inputs.year,
        "release": release_facts(inputs.release),
        "year_before": release_facts(inputs.year_before) if inputs.year_before else None,
        "replay": replay_facts(inputs.replay) if inputs.replay else None,
        "backcast": inputs.back_cast.origin(),
        "last_years_report": {"checksum": inputs.last_years_checksum} if inputs.last_years_checksum else None,
    }


def replay_facts(replay: Replay) -> dict[str, Any]:
    """A replay's checksum, and what its loads depend on; its conditions are in the report's JSON alone."""
    facts = replay_folder.origin(replay.provenance)
    parameters = {name: value for name, value in facts.get("parameters", {}).items() if name != "conditions"}
    return {
        "checksum": replay.checksum,
        "name": replay.name,
        **facts,
        **({"parameters": parameters} if parameters else {}),
    }


def release_facts(release: Release) -> dict[str, Any]:
    """What identifies a release in a manifest."""
    return {"crawl": str(release.crawl), "version": release.version, "checksum": release.checksum}


def draw(
    inputs: ReportInputs, content: Mapping[str, Any], *, note: str | None
) -> tuple[dict[str, alt.TopLevelMixin], dict[str, alt.TopLevelMixin]]:
    """Draw the figures of all sections by id, ready for SVG, PNG and Vega-Lite,
    and the wide ones once more for phones.

    `note` marks each.
    """
    # Altair checks a chart as a whole when it is written;
    # to check each of its parts too takes most of the time.
    with debug_mode(False):
        return _drawn(inputs, content, note=note)


def _drawn(
    inputs: ReportInputs, content: Mapping[str, Any], *, note: str | None
) -> tuple[dict[str, alt.TopLevelMixin], dict[str, alt.TopLevelMixin]]:
    figures = {one["id"]: one for section in content["sections"] for one in section["figures"]}
    wide = {name for name, one in figures.items() if is_wide(one)}
    drawn: dict[str, alt.TopLevelMixin] = {}
    narrow: dict[str, alt.TopLevelMixin] = {}
    for name, one in figures.items():
        if not one["rows"]:
            continue
        for found, is_narrow in ((drawn, False), *([(narrow, True)] if name in wide else [])):
            chart = (
                sizes_chart(inputs, content, one, note=note, width=NARROW if is_narrow else WIDE)
                if name == "cdf"
                else draw_figure(one, note=note, is_narrow=is_narrow)
            )
            if chart is not None:
                found[name] = chart
    return drawn, narrow


def sizes_chart(
    inputs: ReportInputs,
    content: Mapping[str, Any],
    figure: Mapping[str, Any],
    *,
    note: str | None,
    width: int,
) -> alt.LayerChart:
    """The figure of sizes, which is drawn from the release itself."""
    return cdf_figure(
        inputs.release,
        measures=stated_headline(read_cdfs(inputs.release.file("distribution"))),
        windows=content["sizes"]["windows"],
        bands=[flat(row, "cdf") for row in figure["bands"]],
        note=note,
        theme=dataclasses.replace(LIGHT, background="transparent"),
        width=width,
    )
