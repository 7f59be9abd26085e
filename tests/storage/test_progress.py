"""Progress files are complete or missing."""

import datetime
from pathlib import Path

from storage.progress import Bound, Progress, read_progress, write_progress


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
    for stage in (progress("b"), progress("a"), progress("b", done=4)):
        write_progress(folder, stage)
    assert read_progress(folder) == [progress("a"), progress("b", done=4)]
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o644}
    assert sorted(path.name for path in folder.iterdir()) == ["a.json", "b.json"]


def test_a_bound_is_kept_at_its_limit_and_without_anything_to_count_if_it_is_no_least() -> None:
    def is_kept(share: float | None, *, is_least: bool) -> bool:
        return Bound(name="covered", limit=0.5, is_least=is_least, share=share).is_kept

    assert [is_kept(share, is_least=True) for share in (0.4, 0.5, 0.6, None)] == [False, True, True, False]
    assert [is_kept(share, is_least=False) for share in (0.4, 0.5, 0.6, None)] == [True, True, False, True]


def test_a_damaged_file_does_not_hide_others(tmp_path: Path) -> None:
    write_progress(tmp_path, progress("a"))
    for number, text in enumerate(
        ['{"crawl":', "[]", '{"at": 1}', '{"at": "2026-11-20", "crawl": "c"}', "\xff"]
    ):
        (tmp_path / f"{number}.json").write_text(text, encoding="latin-1")
    assert read_progress(tmp_path) == [progress("a")]
