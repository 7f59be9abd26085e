import json
from pathlib import Path

import pytest

from releases.catalogue import (
    Damaged,
    Release,
    ReleaseError,
    Withdrawn,
    find_release,
    iter_versions,
    read_release,
    releases,
)
from schema.crawls import CrawlName
from storage.notices import Withdrawal
from storage.sums import broken_sums
from tests.factories.made_up_release import smallest_release


def test_a_name_has_a_path_and_a_dotted_form(tmp_path: Path) -> None:
    name = CrawlName(month="2026-11", vantage="fra")
    assert str(name) == "2026-11.desktop.fra.tcp.web"
    assert name.path(tmp_path, version=3) == (
        tmp_path / "month=2026-11/device=desktop/vantage=fra/arm=tcp/kind=web/version=3"
    )


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    release = smallest_release(tmp_path, CrawlName(month="2026-11"))
    assert read_release(release.path) == release


def test_the_newest_version_is_found_by_any_unique_beginning_of_its_name(tmp_path: Path) -> None:
    for version in (1, 2, 10):
        smallest_release(tmp_path, CrawlName(month="2026-11"), version=version)
    smallest_release(tmp_path, CrawlName(month="2026-10"))
    for name in ("2026-11", "2026-11.desktop", "2026-11.desktop.local.tcp.web"):
        assert find_release(tmp_path, name).manifest.version == 10
    assert len(list(releases(tmp_path))) == 4


@pytest.mark.parametrize("name", ["2026-12", "2026-1", "2026", "", "2026-11.mobile"])
def test_a_truncated_or_unknown_part_names_nothing(tmp_path: Path, name: str) -> None:
    smallest_release(tmp_path, CrawlName(month="2026-11"))
    with pytest.raises(ReleaseError, match="no release of crawl"):
        find_release(tmp_path, name)


def test_an_ambiguous_name_lists_its_candidates(tmp_path: Path) -> None:
    smallest_release(tmp_path, CrawlName(month="2026-11"))
    smallest_release(tmp_path, CrawlName(month="2026-11", arm="quic"))
    with pytest.raises(ReleaseError, match=r"names 2 releases: 2026-11\.desktop\.local\.quic\.web, 2026-11"):
        find_release(tmp_path, "2026-11")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"crawl": {}}', '{"crawl": 1}', "null", "\ud800"])
def test_a_damaged_manifest_is_one_error(tmp_path: Path, text: str) -> None:
    folder = smallest_release(tmp_path, CrawlName(month="2026-11")).path
    (folder / "manifest.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(ReleaseError, match=r"manifest\.json is damaged or missing"):
        read_release(folder)


def test_a_manifest_that_is_no_text_is_one_error(tmp_path: Path) -> None:
    manifest = smallest_release(tmp_path, CrawlName(month="2026-11")).path / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"desktop"', b'"\xff"'))
    (damaged,) = iter_versions(tmp_path)
    assert isinstance(damaged, Damaged)
    assert "manifest.json is damaged or missing" in damaged.problem


def spoil(release: Release, text: str = "{") -> None:
    (release.path / "manifest.json").write_text(text)


def test_a_damaged_release_is_listed_as_damaged_and_does_not_hide_others(tmp_path: Path) -> None:
    sound = smallest_release(tmp_path, CrawlName(month="2026-11"))
    spoil(smallest_release(tmp_path, CrawlName(month="2025-01")))
    damaged, listed_sound = iter_versions(tmp_path)
    assert isinstance(damaged, Damaged)
    assert (str(damaged.crawl), damaged.version) == ("2025-01.desktop.local.tcp.web", 1)
    assert "manifest.json is damaged or missing" in damaged.problem
    assert [*releases(tmp_path)] == [listed_sound] == [sound] == [find_release(tmp_path, "2026-11")]


def test_a_damaged_newest_version_is_an_error_and_never_replaced_by_an_older_one(tmp_path: Path) -> None:
    smallest_release(tmp_path, CrawlName(month="2026-11"), version=9)
    spoil(smallest_release(tmp_path, CrawlName(month="2026-11"), version=10))
    with pytest.raises(ReleaseError, match=r"version=10/manifest\.json is damaged or missing"):
        find_release(tmp_path, "2026-11")


def test_a_folder_without_a_manifest_is_damaged(tmp_path: Path) -> None:
    (smallest_release(tmp_path, CrawlName(month="2026-11")).path / "manifest.json").unlink()
    assert [type(version) for version in iter_versions(tmp_path)] == [Damaged]


def test_a_release_in_the_place_of_another_is_damaged(tmp_path: Path) -> None:
    release = smallest_release(tmp_path, CrawlName(month="2026-10"))
    place = CrawlName(month="2026-11").path(tmp_path, version=1)
    place.parent.mkdir(parents=True)
    release.path.rename(place)
    (damaged,) = iter_versions(tmp_path)
    assert isinstance(damaged, Damaged)
    assert "is of 2026-10.desktop.local.tcp.web version 1" in damaged.problem


def test_a_tombstone_is_a_withdrawn_version_and_the_next_one_is_found(tmp_path: Path) -> None:
    first = smallest_release(tmp_path, CrawlName(month="2026-11")).path
    for path in first.iterdir():
        path.unlink()
    (first / "tombstone.json").write_text("{}")
    (withdrawn,) = iter_versions(tmp_path)
    assert isinstance(withdrawn, Withdrawn)
    assert (str(withdrawn.crawl), withdrawn.version) == ("2026-11.desktop.local.tcp.web", 1)
    assert withdrawn.withdrawal == Withdrawal(reason="a site was withdrawn", date=None, is_erased=True)
    with pytest.raises(ReleaseError, match="no release of crawl"):
        find_release(tmp_path, "2026-11")
    second = smallest_release(tmp_path, CrawlName(month="2026-11"), version=2)
    assert find_release(tmp_path, "2026-11") == second


def test_folders_that_are_not_versions_are_not_listed(tmp_path: Path) -> None:
    above = smallest_release(tmp_path, CrawlName(month="2026-11")).path.parent
    for name in ("version=", "version=x", "version=\u0661", ".building-x"):
        (above / name).mkdir()
    assert len([*iter_versions(tmp_path)]) == 1


@pytest.mark.parametrize(("key", "value"), [("rows", 3), ("files", None), ("version", 2)])
def test_a_manifest_with_values_of_wrong_types_is_damaged(tmp_path: Path, key: str, value: object) -> None:
    release = smallest_release(tmp_path, CrawlName(month="2026-11"))
    facts = json.loads((release.path / "manifest.json").read_text())
    spoil(release, json.dumps({**facts, key: value}))
    assert [type(version) for version in iter_versions(tmp_path)] == [Damaged]


def test_a_tombstone_beside_withdrawn_files_is_damage(tmp_path: Path) -> None:
    folder = smallest_release(tmp_path, CrawlName(month="2026-11")).path
    (folder / "tombstone.json").write_text("{}")
    assert broken_sums(folder) == ["tombstone.json"]
    (folder / "manifest.json").unlink()
    assert [type(version) for version in iter_versions(tmp_path)] == [Damaged]
