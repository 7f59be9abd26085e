"""The section of changes over the same sites: of a year before, and of recorded sets."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recordings.pages.sets import AUGUST_2025
from releases.catalogue import releases
from reports.document.compose import compose
from reports.sections.same_sites import same_sites
from schema.crawls import CrawlName
from tests.factories.made_up_report import crawl, read_data_folder, write_release

pytestmark = pytest.mark.process

NOW = CrawlName(month="2026-11", vantage="here", kind="web")


def parts_of(data_dir: Path) -> dict[str, dict[str, Any]]:
    """Figures and tables of the report's sizes, by id."""
    (section,) = compose(read_data_folder(data_dir, with_replay=False))["sections"]
    return {item["id"]: item for item in (*section["figures"], *section["tables"])}


def test_a_release_alone_has_no_other_years(tmp_path: Path) -> None:
    write_release(tmp_path, crawl(), NOW)
    assert not parts_of(tmp_path).keys() & {"fig-years", "same-sites-shares"}


def test_the_same_sites_a_year_later_that_did_not_change_have_no_change(tmp_path: Path) -> None:
    for name in (NOW, dataclasses.replace(NOW, month="2025-11")):
        write_release(tmp_path, crawl(), name)
    parts = parts_of(tmp_path)
    shares, sizes = parts["same-sites-shares"], parts["same-sites-bytes"]
    drawn = {row["when"]: row["share"] for row in parts["fig-years"]["rows"]}
    assert drawn["then"] == drawn["in 2026-11"]
    assert {row["change"]["estimate"] for row in shares["rows"]} == {0}
    assert {row["change"]["estimate"] for row in sizes["rows"]} == {1}
    assert {row["since"][:7] for row in shares["rows"]} == {"2025-11"}


def test_recorded_sets_are_compared_with_two_ends_where_headers_were_not_counted(
    recorded_releases: Callable[[str], Path],
) -> None:
    then, now = (next(releases(recorded_releases(name))) for name in ("wpt-2019-12", AUGUST_2025))
    ((_, table, _),) = same_sites(now, [then], iw=10, mss=1430, licence="CC-BY-4.0")
    rows = [row for row in table.rows if (row["responses"], row["window"]) == ("all responses", "IW 30")]
    assert [row["sizes"] for row in rows] == ["bodies alone", "with headers' text"]
    for row in rows:
        assert (row["sites"], round(row["now"])) == (28, 81)
        assert row["change"]["upper"] < 0
    shown = table.rows[: table.shown]
    assert {row["window"] for row in shown} == {"IW 10", "IW 30"}


def test_two_recordings_of_one_month_say_how_well_recordings_repeat(
    recorded_releases: Callable[[str], Path],
) -> None:
    names = ("tranco-2023-11b", "tranco-2023-11", AUGUST_2025)
    again, first, now = (next(releases(recorded_releases(name))) for name in names)
    ((_, table, _),) = same_sites(now, [again, first], iw=10, mss=1430, licence="CC-BY-4.0")
    (said,) = [note for note in table.notes if note.startswith("How well recordings repeat")]
    assert "543 sites" in said
    assert "18 and 19 November 2023" in said
    ((_, table, _),) = same_sites(now, [first], iw=10, mss=1430, licence="CC-BY-4.0")
    assert not any("recordings repeat" in note for note in table.notes)
