"""Drawing in a process apart: its results, its limit of time, and the library that it gives to browsers."""

import math
import time
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api import drawing
from api.http.problems import Problem
from tests.api.test_v1 import assert_problem

ADDRESS = f"/explore/vega-embed-{drawing.VEGA}.js"


def test_a_drawing_that_takes_too_long_is_a_problem_and_the_next_one_is_drawn() -> None:
    with pytest.raises(Problem, match="of drawing"):
        drawing.draw(time.sleep, 600, limit_s=0.5)
    assert drawing.draw(math.sqrt, 4) == 2


def test_an_error_of_a_drawing_is_raised_where_it_was_asked_for() -> None:
    with pytest.raises(ValueError, match="math domain"):
        drawing.draw(math.sqrt, -1)


def test_browsers_keep_vega_for_ever_and_get_its_licences_with_it(client: TestClient) -> None:
    drawing.library(None)  # which takes longer than an answer may, on a busy machine
    answer = client.get(ADDRESS)
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert "BSD-3-Clause" in answer.headers["link"]
    assert "University of Washington" in answer.text[:1000]
    assert "as vegaEmbed" in answer.text[-200:]


def test_another_version_of_vega_is_not_found(client: TestClient) -> None:
    assert_problem(client.get("/explore/vega-embed-0.1.js"), "not-found", 404, mentions=drawing.VEGA)


def test_vega_is_made_once_for_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = iter(["vega"])
    monkeypatch.setattr(drawing, "_made_once", lambda: next(made))
    assert [drawing.library(tmp_path / "cache") for _ in range(2)] == ["vega", "vega"]
