"""Errata are recorded whole or not at all, beside releases that stay as they are."""

import json
import shutil
from pathlib import Path

import pytest

from releases.catalogue import ReleaseError, read_release
from releases.errata import Erratum, ErratumError, errata, folders, read, record
from releases.publish import publish
from schema.crawls import CrawlName
from storage.sums import MANIFEST, broken_sums, manifest_of
from tests.factories.made_up_release import smallest_release

STORED = Path(__file__).parent / "stored" / "schema-1"
OTHER = CrawlName(month="2026-10", kind="localweb")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Releases of two crawls: one with all its tables, and one in two versions."""
    root = tmp_path / "releases"
    crawl = read_release(STORED).crawl
    shutil.copytree(STORED, crawl.path(root, version=1))
    for version in (1, 2):
        smallest_release(root, OTHER, version=version)
    return root


def note(root: Path, *names: str, **facts: object) -> Erratum:
    stated = {"wrong": "headers are counted twice", "advice": "use body_bytes", "date": "2026-12-04", **facts}
    return record(root, names, **stated)  # type: ignore[arg-type]  # facts of any kind


def test_an_erratum_states_its_releases_with_their_checksums(root: Path) -> None:
    release = read_release(next(root.glob("month=2026-11/**/version=1")))
    before = release.checksum
    erratum = note(root, "2026-11", "2026-10/v1", "2026-11/v1")
    assert [(release.crawl, release.version) for release in erratum.releases] == [
        (str(release.crawl), 1),
        (str(OTHER), 1),
    ]
    assert erratum.releases[0].checksum == before == release.checksum
    assert broken_sums(release.path) == broken_sums(root / "errata" / "1") == []
    assert list(errata(root)) == [erratum]
    assert erratum.is_about(str(OTHER), 1)
    assert not erratum.is_about(str(OTHER), 2)


def test_the_newest_version_is_meant_where_none_is_named(root: Path) -> None:
    assert note(root, "2026-10").releases[0].version == 2


def test_numbers_go_on_and_a_later_erratum_may_replace_one(root: Path) -> None:
    assert [note(root, "2026-10").number for _ in range(3)] == [1, 2, 3]
    shutil.rmtree(root / "errata" / "2")
    assert note(root, "2026-10", replaces=3).number == 4
    assert [erratum.replaces for erratum in errata(root)] == [None, None, 3]


@pytest.mark.parametrize(
    ("names", "facts", "error", "message"),
    [
        (["2031-01"], {}, ReleaseError, "no release of crawl '2031-01'"),
        (["2026-10/v7"], {}, ReleaseError, "'2026-10/v7' names no release"),
        (["2026-1/vx"], {}, ReleaseError, "names no release"),
        (["2026-11"], {"columns": ["response.no_such"]}, ErratumError, "has no column 'response.no_such'"),
        (["2026-11"], {"columns": ["../../visit.id"]}, ErratumError, "has no column"),
        (["2026-11"], {"columns": ["response"]}, ErratumError, "has no column 'response'"),
        (["2026-11"], {"since": "last week"}, ErratumError, "write it as 2026-10 or 2026-10-05"),
        (["2026-11"], {"since": "2026-13"}, ErratumError, "no month or day"),
        (["2026-11"], {"replaces": 1}, ErratumError, "there is no erratum 1"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_left(
    root: Path, names: list[str], facts: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        note(root, *names, **facts)
    assert folders(root) == []


def test_columns_of_the_release_are_taken(root: Path) -> None:
    columns = ("response.header_bytes", "distribution.count")
    assert note(root, "2026-11", columns=columns, since="2026-11-03").columns == columns


@pytest.mark.parametrize(
    "change",
    [
        {"number": 2},
        {"wrong": 3},
        {"releases": [{"crawl": "x"}]},
        {"columns": [1]},
        {"releases": "x"},
        {"new": 1},
    ],
)
def test_an_erratum_that_was_changed_is_not_read(root: Path, change: dict[str, object]) -> None:
    note(root, "2026-11")
    folder = root / "errata" / "1"
    (folder / MANIFEST).write_text(json.dumps(manifest_of(folder) | change))
    with pytest.raises(ErratumError, match="restore it from a copy"):
        read(folder)


def test_errata_are_no_release_and_are_not_published_as_one(root: Path, tmp_path: Path) -> None:
    note(root, "2026-11")
    release = read_release(next(root.glob("month=2026-11/**/version=1")))
    publish(release, (tmp_path / "store").as_uri())
    assert [path.name for path in (tmp_path / "store").iterdir()] == ["month=2026-11"]
