"""Versions of reports are kept: none is replaced, none loses a byte, and a number is never given twice."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from storage.report_versions import (
    Publication,
    ReportVersionError,
    all_report_versions,
    erase,
    find_version,
    newest_version,
    next_place,
    put_editions,
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
    folder = tmp_path / "reports" / "2026"
    write_version(folder, Publication(date="2027-01-15"))
    write_version(folder, Publication(version=2, date="2027-03-01", reason="newer list", corrects="shares"))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_versions_are_listed_in_order_with_what_they_say_about_themselves(year: Path) -> None:
    (year / "v10").mkdir()
    write_version(year.parent / "2025", Publication())
    (year.parent / "notes").mkdir()
    assert [str(report_version) for report_version in all_report_versions(year.parent)] == [
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


def test_an_edition_is_copied_whole_beside_the_folders_own_reports(year: Path, tmp_path: Path) -> None:
    editions = tmp_path / "editions"
    editions.mkdir()
    (write_version(tmp_path / "2026", Publication(date="2027-01-01"))).rename(editions / "2026")
    put_editions(editions, year.parent)
    *own, edition = all_report_versions(year.parent)
    assert {str(version) for version in own} == {"2026 v1", "2026 v2"}
    assert (str(edition), edition.of_year, edition.is_edition) == ("2026-edition v1", 2026, True)
    assert contents(edition.folder) == contents(editions / "2026")


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
