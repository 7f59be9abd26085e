"""Builds the annual report: analysis, figures and documents, put in place as one folder."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from altair.utils.schemapi import debug_mode

from releases.catalogue import Release
from releases.slow_start import WINDOWS
from replay.runs import replay_folder
from replay.runs.initial_window import is_paced
from reports.answer import answer_of, fits_number
from reports.document.charts import WIDTH, draw_figure
from reports.document.illustrative import illustrative_because, limits_sentence, marks
from reports.document.plane import NARROW_SHEET, SLIDE, SLIDE_SCALE, WIDE_SHEET, draw_plane
from reports.document.rebuilding import publishing_options, replay_command
from reports.document.render import render_brief, render_html
from reports.document.report_content import (
    FORMAT_VERSION,
    canonical,
    citation,
    content_digest,
    report_content,
    schema,
)
from reports.document.theme import bare, for_both_schemes, png, svg, vega_lite
from reports.forms.brief import Brief, brief_of, brief_pdf
from reports.forms.forms import FOLDER as FORMS
from reports.forms.forms import Drawn, write_forms
from reports.forms.texts import summary_text
from reports.inputs.carried import carry_loads
from reports.inputs.replays import Replay
from reports.inputs.report_inputs import ReportInputs
from reports.sections.servers import servers_section
from reports.sections.sizes.counts import size_section
from storage.report_versions import CONTENT, PAGE, Publication
from storage.signatures import Signer
from storage.staging import put_new
from storage.sums import seal
from verdict.rule import RULE
from verdict.stored import VerdictFacts, round_numbers

PNG_WIDTH = 1600
"""Width of a figure as PNG, in pixels."""

FIRST = Publication()
"""Publication of a first version without a date."""


def compose(inputs: ReportInputs) -> dict[str, Any]:
    """Return the content of report.json without the fields OF_A_VERSION:
    it depends on the inputs and the code alone."""
    windows = {*WINDOWS, *(candidate for candidate in RULE.candidates if not is_paced(candidate))}
    counted = size_section(inputs.release, windows=sorted(windows))
    verdict, recording, crawl = verdict_of_inputs(inputs), inputs.release.recording, inputs.release.crawl
    return report_content(
        inputs,
        counted=counted,
        servers=servers_section(inputs.release),
        verdict=verdict,
        answer=answer_of(
            verdict,
            illustrative_because=illustrative_because(inputs),
            limits=limits_sentence(recording, vantage=crawl.vantage) if recording else None,
            fits=fits_number(counted.content["measures"], iw=RULE.incumbent),
            command=replay_command(inputs.release.manifest.crawl, {}),
        ),
    )


def verdict_of_inputs(inputs: ReportInputs) -> VerdictFacts | None:
    """Return the verdict of the replay; None without one. Illustrative inputs have no answer."""
    if inputs.replay is None:
        return None
    broken = [f"The inputs are illustrative: {reason}." for reason in illustrative_because(inputs)]
    verdict: VerdictFacts = round_numbers(inputs.replay.replayed.verdict(inputs.back_cast, broken=broken))
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
    brief = brief_of(content, marks=marks(content))
    charts = draw(content, brief, note=marks(content) or None)
    figures = {name: bare(svg(chart)) for name, chart in charts.items()}
    with put_new(folder) as stage:
        (stage / CONTENT).write_text(canonical(content), encoding="utf-8")
        (stage / PAGE).write_text(render_html(content, figures=figures), encoding="utf-8")
        drawn = {
            name: Drawn(
                svg=for_both_schemes(figures[name]), png=png(chart, scale=PNG_WIDTH / WIDTH), vega_lite=chart
            )
            for name, chart in charts.items()
        }
        write_forms(stage / FORMS, content, marks=marks(content), charts=drawn, schema=schema())
        _write_brief(stage / FORMS, content, brief)
        (stage / "summary.txt").write_text(summary_text(content, marks=marks(content)), encoding="utf-8")
        carry_loads(stage, inputs.replay, inputs.back_cast.content)
        seal(stage, {**facts, "publication": published, "content_sha256": content_digest(content)})
        if signer is not None:
            signer.sign(stage)
    return content


def _write_brief(folder: Path, content: Mapping[str, Any], brief: Brief) -> None:
    """Write the brief as a page and as PDF, and the slide."""
    with debug_mode(False):
        drawn = {
            sheet: vega_lite(draw_plane(content, brief, sheet)) for sheet in (WIDE_SHEET, NARROW_SHEET, SLIDE)
        }
    wide, narrow = (bare(svg(drawn[sheet])) for sheet in (WIDE_SHEET, NARROW_SHEET))
    page = render_brief(brief, wide=wide, narrow=narrow)
    (folder / "brief.html").write_text(page, encoding="utf-8")
    (folder / "brief.pdf").write_bytes(brief_pdf(brief, figure=wide))
    (folder / "slide.svg").write_text(bare(svg(drawn[SLIDE])), encoding="utf-8")
    (folder / "slide.png").write_bytes(png(drawn[SLIDE], scale=SLIDE_SCALE))


def origin(inputs: ReportInputs, *, commit: str) -> dict[str, Any]:
    """Return the report's inputs with their checksums, the back-cast among them, and the code, kernel,
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
    """Return a replay's checksum, and what its loads depend on; its conditions are in the report's JSON
    alone."""
    facts = replay_folder.origin(replay.provenance)
    parameters = {name: value for name, value in facts.get("parameters", {}).items() if name != "conditions"}
    return {
        "checksum": replay.checksum,
        "name": replay.name,
        **facts,
        **({"parameters": parameters} if parameters else {}),
    }


def release_facts(release: Release) -> dict[str, Any]:
    """State what identifies a release in a manifest."""
    return {"crawl": str(release.crawl), "version": release.version, "checksum": release.checksum}


def draw(content: Mapping[str, Any], brief: Brief, *, note: str | None) -> dict[str, str]:
    """Draw the figures of all sections, as Vega-Lite by id; `note` marks each."""
    figures = [figure for section in content["sections"] for figure in section["figures"]]
    # Altair checks a chart as a whole when it is written;
    # to check each of its parts too takes most of the time.
    with debug_mode(False):
        drawn = {
            figure["id"]: draw_plane(content, brief, NARROW_SHEET)
            if figure["drawing"] == "plane"
            else draw_figure(figure, note=None if figure["is_published"] else note)
            for figure in figures
        }
        return {name: vega_lite(chart) for name, chart in drawn.items() if chart is not None}
