"""Each version of a release says when and why it was made, and why those before it were."""

import datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine

from releases.build import build
from releases.catalogue import ReleaseError, VersionRecord, read_release
from releases.descriptions.history import extend_history, version_history
from releases.erasing import lay_tombstone
from schema.crawls import CrawlName
from tests.factories import stored_crawl
from tests.factories.made_up_crawl import NAME
from tests.factories.made_up_release import smallest_release

CRAWL = CrawlName(month="2026-11")


def today() -> set[str]:
    """Today, and yesterday: midnight may have passed since."""
    now = datetime.datetime.now(datetime.UTC)
    return {(now - datetime.timedelta(days=days)).date().isoformat() for days in (0, 1)}


def test_a_first_version_is_of_the_day_on_which_its_crawl_was_sealed(
    database_18: Engine, tmp_path: Path
) -> None:
    made_up = stored_crawl.typical(sites=2)
    stored_crawl.store(database_18, made_up)
    sealed = made_up.crawl["sealed_at"]
    release = build(database_18, str(NAME), tmp_path).release
    day = sealed.astimezone(datetime.UTC).date().isoformat()
    assert release.manifest.history == (VersionRecord(version=1, date=day, reason=None),)
    assert read_release(release.path).manifest == release.manifest


def test_a_later_version_has_its_day_its_reason_and_those_before_it(
    database_18: Engine, tmp_path: Path
) -> None:
    stored_crawl.store(database_18, stored_crawl.typical(sites=2))
    first = build(database_18, str(NAME), tmp_path).release.manifest.history
    second = build(database_18, str(NAME), tmp_path, version=2, reason="sizes were null").release
    *before, last = second.manifest.history
    assert tuple(before) == first
    assert (last.version, last.reason) == (2, "sizes were null")
    assert last.date in today()
    again = build(database_18, str(NAME), tmp_path, version=2)
    assert (again.is_new, again.release.checksum) == (False, second.checksum)
    with pytest.raises(ReleaseError, match="would not be the same now"):
        build(database_18, str(NAME), tmp_path, version=2, reason="another reason")


def test_a_new_later_version_without_a_reason_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=f"version 2 of {CRAWL} needs a reason"):
        version_history(tmp_path, CRAWL, version=2, reason=None)


def test_a_withdrawn_version_is_in_the_history_without_a_reason(tmp_path: Path) -> None:
    smallest_release(tmp_path, CRAWL, version=1)
    smallest_release(tmp_path, CRAWL, version=2)
    lay_tombstone(CRAWL.path(tmp_path, version=1), CRAWL, version=1)
    history = version_history(tmp_path, CRAWL, version=3, reason="third")
    assert [(edition.version, edition.reason) for edition in history] == [(1, None), (2, None), (3, "third")]


def test_a_version_that_is_made_of_another_continues_its_history(tmp_path: Path) -> None:
    old = smallest_release(tmp_path, CRAWL).manifest
    history = extend_history(old, version=2, reason="a site was withdrawn")
    assert [(edition.version, edition.reason) for edition in history] == [
        (1, None),
        (2, "a site was withdrawn"),
    ]
    assert history[0].date is None
    assert history[1].date in today()


def test_a_manifest_keeps_its_history(tmp_path: Path) -> None:
    old = smallest_release(tmp_path, CRAWL).manifest
    history = extend_history(old, version=2, reason="why")
    new = smallest_release(tmp_path, CRAWL, version=2, history=history)
    assert read_release(new.path).manifest.history == history
