"""Publishing to a store: a release is complete or absent, and never rewritten.

`scripts/test-compose` tests S3.
"""

import itertools
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from releases import publish as publishing
from releases.catalogue import Release, ReleaseError, find_release
from releases.publish import StoreError, publish
from schema.crawls import CrawlName
from storage.signatures import state
from storage.sums import MANIFEST, broken_sums, seal, sha256
from tests.factories.made_up_release import smallest_release
from tests.factories.signing import make_signer

CRAWL = CrawlName(month="2026-11")


@pytest.fixture
def release(tmp_path: Path) -> Release:
    return smallest_release(tmp_path / "releases", CRAWL)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def test_a_published_copy_is_itself_a_release(release: Release, store: Path) -> None:
    moved: list[int] = []
    published = publish(release, store.as_uri(), progress=moved.append)
    copy = find_release(store, "2026-11")
    assert published.is_new
    assert published.url == copy.path.as_uri().replace("%3D", "=")
    assert copy.checksum == release.checksum
    assert broken_sums(copy.path) == []
    assert sum(moved) == 2 * sum(path.stat().st_size for path in release.path.iterdir())


def test_publishing_again_writes_nothing(release: Release, store: Path) -> None:
    publish(release, store.as_uri())
    before = {path: path.stat().st_mtime_ns for path in store.rglob("*")}
    assert not publish(release, store.as_uri()).is_new
    assert {path: path.stat().st_mtime_ns for path in store.rglob("*")} == before


def test_another_release_by_the_same_name_is_refused_and_the_first_one_stays(
    release: Release, store: Path, tmp_path: Path
) -> None:
    publish(release, store.as_uri())
    other = smallest_release(tmp_path / "other", CRAWL)
    manifest = (other.path / MANIFEST).read_text()
    (other.path / MANIFEST).write_text(manifest.replace("0123456", "fedcba9"))
    sums = (other.path / "SHA256SUMS").read_text()
    changed = sums.replace(sums[:64], sha256(other.path / MANIFEST))
    (other.path / "SHA256SUMS").write_text(changed)
    with pytest.raises(StoreError, match="a published version never changes"):
        publish(find_release(tmp_path / "other", "2026-11"), store.as_uri())
    assert find_release(store, "2026-11").checksum == release.checksum


def test_an_interrupted_copy_is_no_release_and_is_completed_the_next_time(
    release: Release, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(store: Any, source: Path, folder: str, names: list[str], progress: Any) -> None:
        write(store, source, folder, names[:2], progress)
        raise OSError("No space left on device")

    write = publishing._write
    with monkeypatch.context() as broken:
        broken.setattr(publishing, "_write", full)
        with pytest.raises(StoreError, match="No space left"):
            publish(release, store.as_uri())
    with pytest.raises(ReleaseError):
        find_release(store, "2026-11")
    assert publish(release, store.as_uri()).is_new
    assert broken_sums(find_release(store, "2026-11").path) == []


def test_a_store_that_returns_other_bytes_gets_no_manifest(
    release: Release, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "_write", lambda store, source, folder, names, progress: None)
    with pytest.raises(StoreError, match="returned other bytes than were written"):
        publish(release, store.as_uri())
    assert not list(store.rglob("*"))


def test_a_manifest_that_arrives_damaged_is_not_put_in_its_place(
    release: Release, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoil(store: Any, source: Path, folder: str, names: list[str], progress: Any) -> None:
        write(store, source, folder, names, progress)
        (Path(folder) / f"{MANIFEST}.partial").write_text("{}")

    write = publishing._write
    monkeypatch.setattr(publishing, "_write", spoil)
    with pytest.raises(StoreError, match=r"other bytes than were written \(manifest.json\)"):
        publish(release, store.as_uri())
    assert not list(store.rglob(MANIFEST))


def test_a_key_in_the_url_is_not_shown(release: Release) -> None:
    with pytest.raises(StoreError) as raised:
        publish(release, "gopher://key:secret@bucket/a")
    assert "secret" not in str(raised.value)


def test_a_damaged_release_is_not_published(release: Release, store: Path) -> None:
    (release.path / "visit.parquet").write_bytes(b"PAR2")
    with pytest.raises(ReleaseError, match=r"damaged \(visit.parquet\)"):
        publish(release, store.as_uri())
    assert not store.exists()


@pytest.mark.parametrize(
    "url", ["", "relative/path", "gopher://a/b", pytest.param("s3://", marks=pytest.mark.process)]
)
def test_an_invalid_store_is_reported_in_one_line(release: Release, url: str) -> None:
    with pytest.raises(StoreError, match="cannot publish to"):
        publish(release, url)


STRANGER = "### Without firstflight"
"""The heading in docs/operations.md above the two commands that check a release."""


def told_to_strangers() -> str:
    page = Path(__file__).parents[2].joinpath("docs/operations.md").read_text(encoding="utf-8")
    lines = page.split(f"\n{STRANGER}\n", 1)[1].splitlines()
    commands = [
        line.strip()
        for line in itertools.takewhile(lambda line: not line.startswith("#"), lines)
        if line.startswith("    ")
    ]
    assert [command.split()[0] for command in commands] == ["ssh-keygen", "sha256sum"]
    return "\n".join(commands)


def as_a_stranger(folder: Path) -> int:
    """Exit code of the commands in a folder, on a machine without firstflight."""
    call = ["bash", "-e", "-c", told_to_strangers()]
    return subprocess.run(
        call, cwd=folder, env={"PATH": "/usr/bin:/bin"}, capture_output=True, check=False
    ).returncode


def test_two_documented_commands_check_a_published_release(
    release: Release, store: Path, tmp_path: Path
) -> None:
    signer = make_signer(tmp_path)
    signer.sign(release.path)
    publish(release, store.as_uri())
    folder = find_release(store, "2026-11").path
    shutil.copy(signer.allowed_signers, folder / "allowed_signers")
    assert as_a_stranger(folder) == 0
    (folder / "visit.parquet").write_bytes(b"PAR2")
    assert as_a_stranger(folder) != 0
    (folder / "allowed_signers").unlink()
    seal(folder, json.loads((folder / MANIFEST).read_text()))  # by somebody who has no key
    shutil.copy(signer.allowed_signers, folder / "allowed_signers")
    assert subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=folder, check=False).returncode == 0
    assert as_a_stranger(folder) != 0


def test_a_signature_may_be_published_after_its_release_and_changes_nothing_else(
    release: Release, store: Path, tmp_path: Path
) -> None:
    publish(release, store.as_uri())
    signer = make_signer(tmp_path)
    published = find_release(store, "2026-11").path
    before = {path: path.stat().st_mtime_ns for path in published.iterdir()}
    assert state(published, signer.allowed_signers).kind == "unsigned"
    signer.sign(release.path)
    assert not publish(release, store.as_uri()).is_new
    assert state(published, signer.allowed_signers).kind == "good"
    assert {path: path.stat().st_mtime_ns for path in before} == before


KILLED = """
import os, signal, sys
from pathlib import Path
from releases import publish
from releases.catalogue import find_release
write = publish._write
def half(store, source, folder, names, progress):
    write(store, source, folder, names[:2], progress)
    os.kill(os.getpid(), signal.SIGKILL)
publish._write = half
publish.publish(find_release(Path(sys.argv[1]), "2026-11"), sys.argv[2])
"""


def test_the_next_copy_completes_a_killed_one(release: Release, store: Path, tmp_path: Path) -> None:
    call = [sys.executable, "-c", KILLED, str(tmp_path / "releases"), store.as_uri()]
    assert subprocess.run(call, check=False).returncode == -signal.SIGKILL
    assert [path.name for path in store.rglob("*.partial")] == ["manifest.json.partial"]
    assert publish(release, store.as_uri()).is_new
    assert broken_sums(find_release(store, "2026-11").path) == []
    assert not list(store.rglob("*.partial"))
