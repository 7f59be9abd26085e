from pathlib import Path

import pytest

from schema.releases import (
    CrawlName,
    Manifest,
    ReleaseError,
    broken_sums,
    find_release,
    read_release,
    releases,
    sha256,
)
from tests.schema.made_up_release import smallest_release


def test_a_name_is_its_path_and_its_dotted_form(tmp_path: Path) -> None:
    name = CrawlName(month="2026-11", vantage="fra")
    assert str(name) == "2026-11.desktop.fra.tcp.web"
    assert name.path(tmp_path, version=3) == (
        tmp_path / "month=2026-11/device=desktop/vantage=fra/arm=tcp/kind=web/version=3"
    )


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    release = smallest_release(tmp_path, CrawlName(month="2026-11"))
    text = release.manifest.to_json()
    assert Manifest.from_json(text) == release.manifest
    assert Manifest.from_json(text).to_json() == text


def test_the_newest_version_is_found_by_any_unique_beginning_of_its_name(tmp_path: Path) -> None:
    for version in (1, 2, 10):
        smallest_release(tmp_path, CrawlName(month="2026-11"), version=version)
    smallest_release(tmp_path, CrawlName(month="2026-10"))
    for name in ("2026-11", "2026-11.desktop", "2026-11.desktop.local.tcp.web"):
        assert find_release(tmp_path, name).manifest.version == 10
    assert len(list(releases(tmp_path))) == 4


@pytest.mark.parametrize("name", ["2026-12", "2026-1", "2026", "", "2026-11.mobile"])
def test_a_part_that_is_cut_or_unknown_names_nothing(tmp_path: Path, name: str) -> None:
    smallest_release(tmp_path, CrawlName(month="2026-11"))
    with pytest.raises(ReleaseError, match="no release of crawl"):
        find_release(tmp_path, name)


def test_an_ambiguous_name_lists_what_it_may_mean(tmp_path: Path) -> None:
    smallest_release(tmp_path, CrawlName(month="2026-11"))
    smallest_release(tmp_path, CrawlName(month="2026-11", arm="quic"))
    with pytest.raises(ReleaseError, match=r"names 2 releases: 2026-11\.desktop\.local\.quic\.web, 2026-11"):
        find_release(tmp_path, "2026-11")


def test_sums_hold_until_a_byte_changes(tmp_path: Path) -> None:
    release = smallest_release(tmp_path, CrawlName(month="2026-11"))
    assert broken_sums(release) == []
    (release.path / "visit.parquet").write_bytes(b"PAR2")
    assert broken_sums(release) == ["visit.parquet"]


def test_a_file_and_its_sum_cannot_be_changed_together(tmp_path: Path) -> None:
    release = smallest_release(tmp_path, CrawlName(month="2026-11"))
    (release.path / "visit.parquet").write_bytes(b"PAR2")
    sums = release.path / "SHA256SUMS"
    good = release.manifest.files["visit.parquet"]
    sums.write_text(sums.read_text().replace(good, sha256(release.path / "visit.parquet")))
    assert broken_sums(release) == ["visit.parquet"]  # the manifest knows it


@pytest.mark.parametrize("text", ["", "nonsense", "one two"])
def test_sums_that_are_none_are_themselves_broken(tmp_path: Path, text: str) -> None:
    release = smallest_release(tmp_path, CrawlName(month="2026-11"))
    (release.path / "SHA256SUMS").write_text(text)
    assert broken_sums(release)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"crawl": {}}', '{"crawl": 1}', "null", "\ud800"])
def test_a_damaged_manifest_is_said_in_one_error(tmp_path: Path, text: str) -> None:
    folder = smallest_release(tmp_path, CrawlName(month="2026-11")).path
    (folder / "manifest.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(ReleaseError, match=r"manifest\.json is damaged or missing"):
        read_release(folder)
