"""Writes the annual report: its content, page, figures, forms and loads, put in place as one folder."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from altair.utils.schemapi import debug_mode

from figures.frame import DESK, PHONE
from figures.rendering import fit_slide, for_both_schemes, page_svg, png, rasterise, vega_lite
from releases.catalogue import Release
from replay.runs import replay_folder
from reports.content import FORMAT_VERSION, Published, canonical, content_digest, parse_content, schema
from reports.document.charts import draw_figure
from reports.document.compose import publish_content
from reports.document.pictures import draw_pictures
from reports.document.plane import draw_plane
from reports.document.render import render_brief, render_html
from reports.forms.brief import Brief, brief_of, brief_pdf
from reports.forms.forms import FOLDER as FORMS
from reports.forms.forms import Drawn, csv_text, write_forms
from reports.forms.texts import summary_text
from reports.inputs.carried import carry_loads
from reports.inputs.replays import Replay
from reports.inputs.report_inputs import ReportInputs
from storage.report_versions import CONTENT, PAGE, Publication
from storage.signatures import Signer
from storage.staging import put_new
from storage.sums import seal
from verdict.rule import RULE

SLIDE = (960, 540)

SLIDE_DRAWING = 800
"""Width that the slide's figure is drawn at, before it is enlarged."""


def write_report(
    inputs: ReportInputs,
    composed: Mapping[str, Any],
    folder: Path,
    *,
    facts: Mapping[str, Any],
    signer: Signer | None = None,
    publication: Publication,
    progress: Callable[[int, int], object] = lambda _done, _total: None,
) -> dict[str, Any]:
    """Write a report into the new folder `folder`, and return the content of report.json.

    `composed` is that of `compose`, `facts` the manifest's of `origin`. FileExistsError: a report is never
    replaced. `progress` is told of figures, drawn and in all.
    """
    content = publish_content(composed, publication, inputs.release)
    report = parse_content(Published, content)
    brief = brief_of(report)
    in_page, charts = (draw(report, brief, width) for width in (PHONE, DESK))
    figures: dict[str, str] = {}
    drawn: dict[str, Drawn] = {}
    for done, (name, chart) in enumerate(charts.items(), 1):
        figures[name] = page_svg(in_page[name])
        drawn[name] = Drawn(
            svg=for_both_schemes(page_svg(chart)),
            png=png(chart),
            vega_lite=chart,
        )
        progress(done, len(charts))
    with put_new(folder) as stage:
        (stage / CONTENT).write_text(canonical(content), encoding="utf-8")
        (stage / PAGE).write_text(render_html(report, figures=figures), encoding="utf-8")
        write_forms(stage / FORMS, report, charts=drawn, schema=schema())
        _write_brief(stage / FORMS, report, brief)
        _write_pictures(stage / FORMS / "pictures", report)
        (stage / "summary.txt").write_text(summary_text(report), encoding="utf-8")
        carry_loads(stage, inputs.replay, inputs.back_cast.content)
        published = {"publication": content["publication"], "content_sha256": content_digest(content)}
        seal(stage, {**facts, **published})
        if signer is not None:
            signer.sign(stage)
    return content


def _write_brief(folder: Path, report: Published, brief: Brief) -> None:
    with debug_mode(False):
        wide, narrow = (page_svg(draw_plane(report, brief, width)) for width in (DESK, PHONE))
        slide = fit_slide(page_svg(draw_plane(report, brief, SLIDE_DRAWING, is_slide=True)), *SLIDE)
    page = render_brief(brief, wide=wide, narrow=narrow)
    (folder / "brief.html").write_text(page, encoding="utf-8")
    (folder / "brief.pdf").write_bytes(brief_pdf(brief, figure=wide))
    (folder / "slide.svg").write_text(slide, encoding="utf-8")
    (folder / "slide.png").write_bytes(rasterise(slide))


def _write_pictures(folder: Path, report: Published) -> None:
    folder.mkdir()
    with debug_mode(False):
        drawn = [(picture, vega_lite(picture.chart)) for picture in draw_pictures(report)]
    for picture, chart in drawn:
        drawing = page_svg(chart)
        texts = {
            "svg": for_both_schemes(drawing),
            "vl.json": chart,
            "csv": csv_text(picture.columns, picture.rows),
        }
        for suffix, text in texts.items():
            (folder / f"{picture.id}.{suffix}").write_text(text, encoding="utf-8", newline="")
        (folder / f"{picture.id}.png").write_bytes(rasterise(drawing))


def origin(inputs: ReportInputs, *, commit: str) -> dict[str, Any]:
    """Return the inputs with their checksums, and code, kernel, programs and parameters of the replay."""
    return {
        "kind": "report",
        "commit": commit,
        "rule_version": RULE.version,
        "licence": inputs.release.manifest.licence,
        "format_version": FORMAT_VERSION,
        "year": inputs.year,
        "release": _release_origin(inputs.release),
        "year_before": _release_origin(inputs.year_before) if inputs.year_before else None,
        "replay": _replay_origin(inputs.replay) if inputs.replay else None,
        "confirming": [
            {"crawl": replay.crawl, "checksum": replay.checksum, "name": replay.name}
            for replay in (inputs.replay.confirming if inputs.replay else ())
        ],
        "backcast": inputs.back_cast.origin(),
        "last_years_report": {"checksum": inputs.last_years_checksum} if inputs.last_years_checksum else None,
    }


def _replay_origin(replay: Replay) -> dict[str, Any]:
    """Return a replay's checksum and what its loads depend on, but for the conditions."""
    facts = replay_folder.origin(replay.provenance)
    parameters = dict(replay.provenance.get("parameters", {}))
    parameters.pop("conditions", None)
    return {
        "checksum": replay.checksum,
        "name": replay.name,
        **facts,
        **({"parameters": parameters} if parameters else {}),
    }


def _release_origin(release: Release) -> dict[str, Any]:
    return {"crawl": str(release.crawl), "version": release.version, "checksum": release.checksum}


def draw(report: Published, brief: Brief, width: int) -> dict[str, str]:
    """Draw the figures as Vega-Lite by id, for a phone, of which a desk's page has two abreast, or for a
    desk.
    """
    # Altair checks a chart as a whole when it is written;
    # to check each of its parts too takes most of the time.
    with debug_mode(False):
        drawn = {
            figure.id: draw_plane(report, brief, width)
            if figure.drawing == "plane"
            else draw_figure(figure, width=width, note="" if figure.is_published else report.marks)
            for figure in report.figures()
        }
        return {name: vega_lite(chart) for name, chart in drawn.items() if chart is not None}
