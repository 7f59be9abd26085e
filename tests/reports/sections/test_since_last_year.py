"""The comparison with the release of twelve months earlier: which release is taken,
and what the change is."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from releases.interval import Interval
from reports.document.report import build_report, compose
from reports.inputs.errors import ReportError
from reports.recomputation.recompute import recompute
from reports.sections.sizes.since_last_year import difference
from schema.crawls import CrawlName
from tests.factories.made_up_crawl import MadeUp
from tests.factories.made_up_report import crawl, places, read_data_folder, write_release

pytestmark = pytest.mark.process

NOW = CrawlName(month="2026-11", vantage="here", kind="web")
BEFORE = dataclasses.replace(NOW, month="2025-11")


def larger(factor: int) -> MadeUp:
    """The crawl with every response `factor` times as large."""
    made_up = crawl()
    for row in made_up.response:
        row["wire_bytes"] *= factor
    return made_up


def section_of(data_dir: Path) -> dict[str, Any]:
    content = compose(read_data_folder(data_dir, with_replay=False))
    (found,) = (one for one in content["sections"] if one["id"] == "since-last-year")
    return dict(found)


def percent_that_fits(made_up: MadeUp, window: int) -> float:
    sizes: list[int] = [row["wire_bytes"] for row in made_up.response]
    return 100 * sum(size <= 1430 * window for size in sizes) / len(sizes)


def test_the_shares_of_both_years_stand_side_by_side_with_their_change(tmp_path: Path) -> None:
    write_release(tmp_path, crawl(), BEFORE)
    write_release(tmp_path, larger(3), NOW)
    section = section_of(tmp_path)
    (table,) = section["tables"]
    rows = {(row["measure"], row["window"]): row for row in table["rows"]}
    for window in (3, 10, 16, 30):
        row = rows["all responses", f"IW {window}"]
        before, now = percent_that_fits(crawl(), window), percent_that_fits(larger(3), window)
        assert (row["before"], row["now"]) == pytest.approx((before, now), rel=1e-5)
        change = row["change"]
        assert change["estimate"] == pytest.approx(now - before, abs=1e-3)
        assert change["lower"] < change["estimate"] < change["upper"] < 0
    (figure,) = section["figures"]
    assert {row["curve"] for row in figure["rows"]} >= {"all responses, 2025-11", "all responses, 2026-11"}
    assert not any("differs" in note for note in table["notes"])


def test_without_such_a_release_one_sentence_names_it(tmp_path: Path) -> None:
    write_release(tmp_path, crawl(), NOW)
    for other in (
        dataclasses.replace(BEFORE, device="mobile"),
        dataclasses.replace(BEFORE, arm="quic"),
        dataclasses.replace(BEFORE, month="2025-12"),
    ):
        write_release(tmp_path, crawl(), other)
    section = section_of(tmp_path)
    assert section["missing"] == (
        "Not measured in this release: there is no release of 2025-11.desktop.here.tcp.web to compare it "
        "with. A release of that name would fill this section."
    )
    assert not section["tables"]


def test_what_changed_beside_the_web_is_said(tmp_path: Path) -> None:
    before = write_release(tmp_path, crawl(), BEFORE)
    write_release(tmp_path, crawl(), NOW)
    inputs = read_data_folder(tmp_path, with_replay=False)
    manifest = dataclasses.replace(before.manifest, method_version="0", browser="Chromium 100")
    older = dataclasses.replace(inputs, year_before=dataclasses.replace(before, manifest=manifest))
    content = compose(older)
    (section,) = (one for one in content["sections"] if one["id"] == "since-last-year")
    notes = " ".join(section["tables"][0]["notes"])
    assert "The method version differs (0, then " in notes
    assert "The browser differs (Chromium 100, then " in notes


def test_the_release_of_the_year_before_is_named_and_needed_to_compute_again(tmp_path: Path) -> None:
    before = write_release(tmp_path, crawl(), BEFORE)
    write_release(tmp_path, larger(3), NOW)
    folder = tmp_path / "reports" / "2026" / "v1"
    build_report(read_data_folder(tmp_path, with_replay=False), folder, commit="c0ffee")
    stated = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["year_before"]
    assert stated == {"crawl": str(BEFORE), "version": 1, "checksum": before.checksum}
    # A newer version does not change what the report was made from.
    write_release(tmp_path, larger(2), BEFORE, version=2)
    assert recompute(folder, "fits-last-year", places=places(tmp_path)).differences == ()
    before.path.rename(tmp_path / "away")
    with pytest.raises(ReportError, match=rf"the release {BEFORE}, version 1, is missing .*; fetch that one"):
        recompute(folder, "fits-last-year", places=places(tmp_path))


def test_a_damaged_release_of_the_year_before_is_refused_in_one_line(tmp_path: Path) -> None:
    before = write_release(tmp_path, crawl(), BEFORE)
    write_release(tmp_path, crawl(), NOW)
    (before.path / "manifest.json").write_text("{")
    with pytest.raises(
        ReportError, match=r"2025-11\..*, which sizes are compared with, is damaged"
    ) as refused:
        read_data_folder(tmp_path, with_replay=False)
    assert "\n" not in str(refused.value)


def test_the_interval_of_a_difference_is_wider_than_either_and_none_where_one_is_unknown() -> None:
    one, other = Interval(60.0, 57.0, 64.0), Interval(50.0, 46.0, 53.0)
    found = difference(one, other)
    assert found is not None
    assert found.estimate == 10
    assert found.lower == pytest.approx(10 - (3**2 + 3**2) ** 0.5)
    assert found.upper == pytest.approx(10 + (4**2 + 4**2) ** 0.5)
    assert difference(one, None) is None
