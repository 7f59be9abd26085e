"""The product writes Vega-Lite unchecked; each kind of drawing is checked here."""

import json
from pathlib import Path

import pytest
from altair.utils.schemapi import validate_jsonschema
from altair.vegalite.v6.schema import load_schema

from figures.frame import DESK, PHONE
from figures.rendering import vega_lite
from reports.content import read_published
from reports.document.plane import draw_plane
from reports.forms.brief import brief_of

pytestmark = pytest.mark.process


def check(chart: str) -> None:
    validate_jsonschema(json.loads(chart), {"$ref": "#/definitions/TopLevelSpec"}, rootschema=load_schema())


def test_each_figure_of_a_report_is_valid_vega_lite(made_up_report: Path) -> None:
    charts = sorted(made_up_report.rglob("*.vl.json"))
    assert len(charts) > 5
    for chart in charts:
        check(chart.read_text(encoding="utf-8"))


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_the_plane_of_the_brief_is_valid_vega_lite(made_up_report: Path, width: int) -> None:
    report = read_published(made_up_report / "reports/2026/v1/report.json")
    check(vega_lite(draw_plane(report, brief_of(report), width)))
