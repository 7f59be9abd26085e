"""Prepared files: the service answers from them as from the release's tables,
and never from what is damaged or withdrawn."""

import dataclasses
import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from api.rows.query import RowReader
from api.stored import prepared
from api.stored.open_releases import OpenReleases
from api.stored.prepared import ITEMS, SITES, Prepared, keep_prepared, prepare
from api.stored.shelf import Version
from recordings.pages.same_sites import sites_of
from releases.strata.cells import Items, read_items
from releases.strata.sample import Stratum
from tests.api.conftest import serving, write_release_with_items
from tests.api.rows.conftest import NAME, made_up, write_crawl
from tests.api.rows.conftest import SITES as MADE_UP_SITES
from tests.api.test_damaged import withdraw
from tests.factories.made_up_crawl import write_tables

PREPARED_WITHIN_S = 600
"""A process of low priority prepares a small release within this time on the busiest machine."""

STRATA = [
    Stratum(page_kind=kind, rank_stratum=ranks, protocol=protocol, party=party)
    for kind, ranks, protocol, party in itertools.product(
        ("home", "inner"), (None, 1000, 10_000), (None, "h2", "h3"), (None, "first")
    )
]


@dataclasses.dataclass(frozen=True)
class Shelved:
    """Releases, and an empty folder for their prepared files."""

    releases: OpenReleases

    @property
    def prepared(self) -> Prepared:
        assert self.releases.prepared is not None
        return self.releases.prepared

    @property
    def version(self) -> Version:
        return self.releases.shelf().versions[0]

    def prepare(self) -> Path:
        folder = self.prepared.path_of(self.version)
        prepare(self.version.path, folder)
        self.prepared.add(self.version)
        return folder


def shelved(root: Path) -> Shelved:
    return Shelved(open_releases(root, prepared=root / "prepared"))


def open_releases(root: Path, **options: Any) -> OpenReleases:
    return OpenReleases(root / "releases", root / "reports", every_s=0, **options)


def hosts(count: int) -> Iterator[str]:
    return (f"site{number}.test" for number in range(1, count + 1))


@pytest.fixture
def crawled(tmp_path: Path) -> Shelved:
    """The release of a crawl whose first site failed once, and was visited again under the same name."""
    crawl = made_up()
    crawl.add_visit(outcome="dns", is_final=False)
    crawl.add_visit()
    for visit in crawl.visit[-2:]:
        visit["host"] = "site1.test"
    crawl.add_connection(host="other.test", tls_handshake_bytes=3000, window=10)
    crawl.add_response(20_000, first_ms=150, last_ms=200)
    write_crawl(tmp_path / "releases", NAME, crawl)
    return shelved(tmp_path)


@pytest.fixture
def with_items(tmp_path: Path) -> Shelved:
    """A release with items of thirty sites."""
    write_tables(tmp_path / "tables", made_up())
    others = {path.name: path for path in (tmp_path / "tables").iterdir()}
    write_release_with_items(tmp_path / "releases", NAME, others=others)
    return shelved(tmp_path)


@pytest.mark.parametrize("rows", [4096, 4, 1])
def test_a_site_has_the_same_rows_as_by_queries_however_they_are_cut(
    crawled: Shelved, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(prepared, "BATCH_ROWS", rows)
    crawled.prepare()
    by_files, by_queries = RowReader(crawled.releases), RowReader(open_releases(tmp_path))
    for host in hosts(MADE_UP_SITES):
        by_file = by_files.site(crawled.version, host)
        assert by_file == by_queries.site(crawled.version, host), host
        assert by_file.responses, host
    first = by_files.site(crawled.version, "site1.test")
    assert [(visit["outcome"], visit["is_final"]) for visit in first.visits] == [
        ("ok", True),
        ("dns", False),
        ("ok", True),
    ]
    assert by_files.site(crawled.version, "none.test").visits == []


@pytest.mark.parametrize("measure", ["responses", "pages", "hosts"])
def test_a_stratum_of_mapped_items_is_that_of_the_table(with_items: Shelved, measure: str) -> None:
    """The measure `hosts` has no item at all."""
    folder = with_items.prepare()
    mapped, release = Items.load(folder / ITEMS / measure), with_items.version.readable
    read = read_items(release.file("item"), measure, sites_of(release))
    for stratum in STRATA:
        ours, theirs = mapped.sample(stratum), read.sample(stratum)
        assert ours.sizes.tolist() == theirs.sizes.tolist()
        assert ours.groups.tolist() == theirs.groups.tolist()
        assert (ours.sites, ours.unknown, ours.group_count) == (
            theirs.sites,
            theirs.unknown,
            theirs.group_count,
        )
    assert (measure == "hosts") == (len(mapped.sizes) == 0)


def test_files_that_were_damaged_are_made_anew_and_whole_ones_are_left(with_items: Shelved) -> None:
    folder = with_items.prepare()
    sizes = folder / ITEMS / "responses" / "sizes.npy"
    whole, written = sizes.read_bytes(), sizes.stat().st_mtime_ns
    with_items.prepare()
    assert sizes.stat().st_mtime_ns == written
    sizes.write_bytes(whole[:-1] + b"\x7f")
    with_items.prepare()
    assert sizes.read_bytes() == whole


def test_files_that_cannot_be_read_are_not_asked_again(with_items: Shelved) -> None:
    folder = with_items.prepare()
    (folder / ITEMS / "responses" / "items.json").write_text("{")
    assert (
        with_items.releases.sample(with_items.version, "responses", Stratum(protocol="h2")).sample.sites == 30
    )
    assert not with_items.prepared.has(with_items.version)


def test_files_of_releases_that_are_gone_are_removed(crawled: Shelved) -> None:
    folder = crawled.prepare()
    crawled.prepared.remove_all_but([crawled.version])
    Prepared(crawled.prepared.folder, Path("releases-of-another-service")).remove_all_but([])
    assert (folder / SITES).is_dir()
    crawled.prepared.remove_all_but([])
    assert not folder.exists()
    assert not crawled.prepared.has(crawled.version)


def test_the_service_prepares_its_releases_and_removes_what_was_withdrawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{keep_prepared.__module__}.LOOKED_AT_EVERY_S", 0.1)
    write_crawl(tmp_path / "releases", NAME, made_up())
    with serving(tmp_path / "releases", prepared=tmp_path / "prepared") as client:
        releases: OpenReleases = client.app.state.service.releases  # type: ignore[attr-defined]
        prepared = releases.prepared
        assert prepared is not None
        (version,) = releases.shelf().versions
        until(lambda: prepared.has(version))
        assert (prepared.path_of(version) / SITES).is_dir()
        answer = client.get("/v1/sites/site1.test").json()
        assert len(answer["crawls"]) == 1
        withdraw(NAME.path(tmp_path / "releases", version=1))
        until(lambda: not prepared.path_of(version).exists())
        assert client.get("/v1/sites/site1.test").status_code == 404


def test_a_service_that_cannot_write_the_files_answers_without_them(tmp_path: Path) -> None:
    write_crawl(tmp_path / "releases", NAME, made_up())
    (tmp_path / "prepared").write_text("no folder")
    with serving(tmp_path / "releases", prepared=tmp_path / "prepared") as client:
        assert len(client.get("/v1/sites/site1.test").json()["crawls"]) == 1


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PREPARED_WITHIN_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)
