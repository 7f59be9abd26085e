"""Progress files are complete or missing."""

import datetime
from pathlib import Path

from storage.progress import Progress, end_progress, read_progress, write_progress


def progress(crawl: str, done: int = 3) -> Progress:
    return Progress(
        crawl=crawl,
        at=datetime.datetime(2026, 11, 20, 12, tzinfo=datetime.UTC),
        planned=10,
        done=done,
        visits=4,
        received_bytes=5000,
        visits_per_hour=None,
        minutes_left=None,
        outcomes={"ok": 2, "dns": 1},
    )


def test_the_newest_progress_of_each_crawl_can_be_read_by_everybody(tmp_path: Path) -> None:
    folder = tmp_path / "progress"
    assert read_progress(folder) == []
    for one in (progress("b"), progress("a"), progress("b", done=4)):
        write_progress(folder, one)
    assert read_progress(folder) == [progress("a"), progress("b", done=4)]
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o644}
    assert sorted(path.name for path in folder.iterdir()) == ["a.json", "b.json"]
    end_progress(folder, "b")
    end_progress(folder, "never begun")
    assert read_progress(folder) == [progress("a")]


def test_a_damaged_file_does_not_hide_others(tmp_path: Path) -> None:
    write_progress(tmp_path, progress("a"))
    for number, text in enumerate(
        ['{"crawl":', "[]", '{"at": 1}', '{"at": "2026-11-20", "crawl": "c"}', "\xff"]
    ):
        (tmp_path / f"{number}.json").write_text(text, encoding="latin-1")
    assert read_progress(tmp_path) == [progress("a")]
