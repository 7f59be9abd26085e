"""Versions of reports are kept: none is replaced, none loses a byte, and a number is never given twice."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from storage.report_versions import (
    Publication,
    ReportVersionError,
    adopt,
    all_report_versions,
    erase,
    find_version,
    newest_version,
    next_place,
    report_versions,
    withdraw,
)
from storage.staging import put_new
from storage.sums import broken_sums
from tests.factories.published_report import write_version
from tests.factories.signing import make_signer

DATE = "2027-04-01"


@pytest.fixture
def year(tmp_path: Path) -> Path:
    """The folder of a year with two versions."""
    folder = tmp_path / "reports" / "2026"
    write_version(folder, Publication(date="2027-01-15"))
    write_version(folder, Publication(version=2, date="2027-03-01", reason="newer list", corrects="shares"))
    return folder


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """The folder of a year as an earlier firstflight left it, with a folder within and a link."""
    folder = tmp_path / "reports" / "2025"
    write_version(folder, Publication(), to=folder)
    (folder / "figures").mkdir()
    (folder / "figures" / "cdf.svg").write_text("<svg/>")
    (folder / "latest.txt").symlink_to("summary.txt")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_versions_are_listed_in_order_with_what_they_say_about_themselves(year: Path, older: Path) -> None:
    (year / "v10").mkdir()
    (year.parent / "notes").mkdir()
    assert [str(one) for one in all_report_versions(year.parent)] == [
        "2025 v1",
        "2026 v1",
        "2026 v2",
        "2026 v10",
    ]
    second = find_version(year.parent, 2026, 2)
    assert (second.publication.reason, second.publication.corrects) == ("newer list", "shares")
    assert next_place(year).number == 11
    with pytest.raises(ReportVersionError, match="has no version 3; there are: 1, 2, 10"):
        find_version(year.parent, 2026, 3)


@pytest.mark.parametrize(
    "manifest", ["{", "[]", '{"files": {}, "publication": {"date": 5}}', '{"files": {}, "publication": [1]}']
)
def test_a_manifest_that_cannot_be_read_leaves_the_number_alone(year: Path, manifest: str) -> None:
    (year / "v2" / "manifest.json").write_text(manifest)
    assert find_version(year.parent, 2026, 2).publication == Publication(version=2)


def test_no_folder_is_put_in_the_place_of_another(year: Path) -> None:
    before = contents(year)
    with pytest.raises(FileExistsError, match="is never replaced"), put_new(year / "v2") as made:
        (made / "index.html").write_text("other")
    assert contents(year) == before
    assert sorted(path.name for path in year.iterdir()) == ["v1", "v2"]


def test_a_withdrawal_leaves_every_file_and_the_next_in_force_is_the_newest(year: Path) -> None:
    before = contents(year)
    withdraw(find_version(year.parent, 2026, 2), reason="wrong kernel", date=DATE)
    assert {name: content for name, content in contents(year).items() if not name.startswith("v2-")} == before
    second = find_version(year.parent, 2026, 2)
    assert second.withdrawal is not None
    assert (second.withdrawal.reason, second.withdrawal.date) == ("wrong kernel", DATE)
    assert broken_sums(second.notice) == []
    newest = newest_version(report_versions(year))
    assert newest is not None
    assert newest.number == 1
    assert next_place(year).number == 3
    with pytest.raises(ReportVersionError, match="is withdrawn already: wrong kernel"):
        withdraw(second, reason="another", date=DATE)


def test_a_notice_is_signed_and_a_damaged_one_still_withdraws(year: Path, tmp_path: Path) -> None:
    withdraw(find_version(year.parent, 2026, 1), reason="wrong", date=DATE, signer=make_signer(tmp_path))
    first = find_version(year.parent, 2026, 1)
    assert (first.notice / "SHA256SUMS.sig").read_text().startswith("-----BEGIN SSH SIGNATURE-----")
    manifest = first.notice / "manifest.json"
    manifest.write_text(manifest.read_text().replace("wrong", "right"))
    assert first.is_withdrawn
    assert first.withdrawal is not None
    assert first.withdrawal.reason == "the notice of withdrawal is damaged"


def test_an_erased_version_keeps_its_number_and_nothing_else(year: Path) -> None:
    withdraw(find_version(year.parent, 2026, 2), reason="site9.test asked", date=DATE)
    erase(find_version(year.parent, 2026, 2), reason="a site was withdrawn", date=DATE)
    assert sorted(path.name for path in year.iterdir()) == ["v1", "v2-withdrawn"]
    assert not any(b"site9" in content for content in contents(year).values())
    assert next_place(year).number == 3
    second = find_version(year.parent, 2026, 2)
    assert second.withdrawal is not None
    assert (second.is_there, second.withdrawal.is_erased) == (False, True)


def test_a_report_of_an_earlier_firstflight_becomes_version_1_once_and_loses_nothing(older: Path) -> None:
    before, times = (
        contents(older),
        {path.name: path.stat().st_mtime_ns for path in older.iterdir() if path.is_file()},
    )
    (read,) = report_versions(older)
    assert (read.number, read.folder) == (1, older)
    assert adopt(older)
    assert sorted(path.name for path in older.iterdir()) == ["v1"]
    assert contents(older / "v1") == before
    assert {name: (older / "v1" / name).stat().st_mtime_ns for name in times} == times
    assert (older / "v1" / "latest.txt").is_symlink()
    (first,) = report_versions(older)
    assert (first.number, first.folder, next_place(older).number) == (1, older / "v1", 2)
    assert not adopt(older)
    assert contents(older / "v1") == before


KILLED = """
import os, sys
from pathlib import Path
from storage import report_versions

left = int(sys.argv[2])

def counted(call):
    def one(*arguments, **options):
        global left
        if left == 0:
            os.kill(os.getpid(), 9)
        left -= 1
        return call(*arguments, **options)
    return one

report_versions.shutil.copy2 = counted(report_versions.shutil.copy2)
Path.unlink, Path.rename, Path.rmdir = map(counted, (Path.unlink, Path.rename, Path.rmdir))
report_versions.adopt(Path(sys.argv[1]))
"""


def test_a_kill_at_any_moment_of_the_adoption_loses_nothing_and_the_next_call_ends_it(older: Path) -> None:
    """Killed at the first copy, the second, ..., the last removal, in turn: each kill starts where the one before left off."""
    before, kills = contents(older), 0
    for step in range(100):
        done = subprocess.run([sys.executable, "-c", KILLED, str(older), str(step)], check=False)
        (read,) = report_versions(older)
        assert {
            name: content for name, content in contents(read.folder).items() if not name.startswith(".")
        } == before
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        kills += 1
    assert kills > len(before)
    assert sorted(path.name for path in older.iterdir() if not path.name.startswith(".")) == ["v1"]


def test_a_report_that_a_killed_process_had_moved_aside_comes_back_first(older: Path) -> None:
    before = contents(older)
    aside = older.parent / ".building-killed" / "old"
    aside.mkdir(parents=True)
    older.rename(aside / older.name)
    for path in (aside.parent, *aside.parent.rglob("*")):
        os.utime(path, (0, 0), follow_symlinks=False)
    assert adopt(older)
    assert contents(older / "v1") == before
    assert [path.name for path in older.parent.iterdir()] == ["2025"]


def test_an_erasure_that_was_killed_is_seen_and_ended_by_the_next(
    year: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove = shutil.rmtree

    def killed(folder: Path, **options: Any) -> None:
        if folder.name == "v1":
            raise KeyboardInterrupt
        remove(folder, **options)

    monkeypatch.setattr("storage.report_versions.shutil.rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        erase(find_version(year.parent, 2026, 1), reason="a site was withdrawn", date=DATE)
    monkeypatch.undo()
    first = find_version(year.parent, 2026, 1)
    assert first.withdrawal is not None
    assert (first.is_there, first.withdrawal.is_erased) == (True, True)
    erase(first, reason="a site was withdrawn", date=DATE)
    assert not find_version(year.parent, 2026, 1).is_there


def test_a_file_that_differs_from_its_copy_is_not_removed(older: Path) -> None:
    adopt(older)
    (older / "summary.txt").write_text("an operator's note")
    (older / "README").write_text("another")
    assert not adopt(older)
    assert (older / "summary.txt").read_text() == "an operator's note"
    assert (older / "README").read_text() == "another"


def test_what_is_withdrawn_or_erased_is_adopted_first(older: Path) -> None:
    withdraw(report_versions(older)[0], reason="wrong", date=DATE)
    assert sorted(path.name for path in older.iterdir()) == ["v1", "v1-withdrawn"]
    erase(report_versions(older)[0], reason="a site was withdrawn", date=DATE)
    assert sorted(path.name for path in older.iterdir()) == ["v1-withdrawn"]
