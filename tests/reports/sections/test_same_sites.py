"""The section of changes over the same sites: of a year before, and of recorded sets."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from recordings.pages.recording import AUGUST_2025, SETS, read_recording
from recordings.pages.rows import content_of
from releases.imported import write_imported
from reports.document.report import compose
from reports.sections.same_sites import same_sites_section
from schema.crawls import CrawlName
from tests.factories.made_up_report import crawl, read_data_folder, write_release

pytestmark = pytest.mark.process

NOW = CrawlName(month="2026-11", vantage="here", kind="web")


def section_of(data_dir: Path) -> dict[str, Any] | None:
    content = compose(read_data_folder(data_dir, with_replay=False))
    return next((dict(one) for one in content["sections"] if one["id"] == "same-sites"), None)


def test_a_release_alone_has_no_such_section(tmp_path: Path) -> None:
    write_release(tmp_path, crawl(), NOW)
    assert section_of(tmp_path) is None


def test_the_same_sites_a_year_later_that_did_not_change_have_no_change(tmp_path: Path) -> None:
    for name in (NOW, dataclasses.replace(NOW, month="2025-11")):
        write_release(tmp_path, crawl(), name)
    section = section_of(tmp_path)
    assert section is not None
    shares, sizes = section["tables"]
    assert {row["change"]["estimate"] for row in shares["rows"]} == {0}
    assert {row["change"]["estimate"] for row in sizes["rows"]} == {1}
    assert {row["since"][:7] for row in shares["rows"]} == {"2025-11"}


def test_recorded_sets_are_compared_with_two_ends_where_headers_were_not_counted(tmp_path: Path) -> None:
    found = {}
    for name in ("wpt-2019-12", AUGUST_2025):
        content = content_of(read_recording(SETS[name]))
        found[name] = write_imported(
            content.tables, content.recording, tmp_path, checksum=content.checksum, notes=content.notes
        ).release
    section = same_sites_section(found[AUGUST_2025], [found["wpt-2019-12"]], mss=1430)
    assert section is not None
    rows = [
        row
        for row in section.tables[0].rows
        if (row["responses"], row["window"]) == ("all responses", "IW 30")
    ]
    assert [row["sizes"] for row in rows] == ["bodies alone", "with headers' text"]
    for row in rows:
        assert (row["sites"], round(row["now"])) == (28, 81)
        assert row["change"]["upper"] < 0
    shown = section.tables[0].rows[: section.tables[0].shown]
    assert {row["window"] for row in shown} == {"IW 10", "IW 30"}
