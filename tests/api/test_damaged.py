"""Damaged and withdrawn releases are listed as such and not served, and all others are served."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.stored import inspection
from storage.sums import seal, sha256
from tests.api.conftest import serving
from tests.api.test_v1 import assert_problem
from tests.circles import thorough
from tests.factories.signing import make_signer

OLD = "2026-10.desktop.local.tcp.localweb"
MOBILE = "2026-11.mobile.local.tcp.web"
CRAWL = "2026-11.desktop.local.tcp.localweb"


def folder_of(data_dir: Path, month: str = "2026-10", version: int = 1, device: str = "desktop") -> Path:
    (folder,) = data_dir.glob(f"releases/month={month}/device={device}/**/version={version}")
    return folder


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def withdraw(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
    (folder / "tombstone.json").write_text('{"reason": "a site was withdrawn"}\n')


def put_file_in_place_of(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.touch()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "a bit of the distributions": lambda folder: flip(folder / "distribution.parquet"),
    "distributions cut short": lambda folder: os.truncate(folder / "distribution.parquet", 100),
    "a file that is gone": lambda folder: (folder / "dictionary.json").unlink(),
    "a manifest cut short": lambda folder: (folder / "manifest.json").write_text('{"crawl": '),
    "a manifest of something else": lambda folder: (folder / "manifest.json").write_text('["a"]'),
    "a manifest that is gone": lambda folder: (folder / "manifest.json").unlink(),
    "a bit of the manifest": lambda folder: flip(folder / "manifest.json"),
    "sums cut short": lambda folder: os.truncate(folder / "SHA256SUMS", 30),
    "sums that are gone": lambda folder: (folder / "SHA256SUMS").unlink(),
    "a file in place of the folder": put_file_in_place_of,
    "sums that are no text": lambda folder: (folder / "SHA256SUMS").write_bytes(b"\xff\xfe"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("crawl", [MOBILE, *thorough(OLD)])
def test_a_damaged_release_is_listed_as_damaged_and_the_others_are_served(
    client: TestClient, data_dir: Path, damage: Callable[[Path], object], crawl: str
) -> None:
    """The mobile release is the only observed one, so the home page shows it while it is sound."""
    month, device = crawl.split(".")[:2]
    damage(folder_of(data_dir, month, device=device))
    for path in ("/v1/crawls", "/v1/releases"):
        found = client.get(path).json()
        assert [(one["crawl"], one["version"]) for one in found["damaged"]] == [(crawl, 1)]
        assert str(data_dir) not in json.dumps(found)
        listed = found["crawls" if path.endswith("crawls") else "releases"]
        assert crawl not in {one.get("crawl") or one["provenance"]["crawl"] for one in listed}
        assert listed
    assert client.get("/").status_code == 200
    assert client.get("/releases").text.count("<strong>damaged</strong>") == 1
    for path in (f"/releases/{crawl}/v1", f"/v1/distributions?crawl={crawl}"):
        assert_problem(client.get(path), "damaged-release", 503)
    assert client.get(f"/v1/distributions?crawl={CRAWL}").status_code == 200


def test_a_damaged_newest_version_is_not_replaced_by_an_older_one(client: TestClient, data_dir: Path) -> None:
    flip(folder_of(data_dir, "2026-11", 2) / "distribution.parquet")
    assert_problem(client.get(f"/v1/distributions?crawl={CRAWL}"), "damaged-release", 503)
    (listed,) = [crawl for crawl in client.get("/v1/crawls").json()["crawls"] if crawl["crawl"] == CRAWL]
    assert listed["versions"] == [1]
    assert "2 (damaged)" in client.get(f"/releases/{CRAWL}/v1").text


def test_a_restored_release_is_served_again(client: TestClient, data_dir: Path) -> None:
    path = folder_of(data_dir) / "distribution.parquet"
    content = path.read_bytes()
    flip(path)
    assert client.get(f"/v1/distributions?crawl={OLD}").status_code == 503
    path.write_bytes(content)
    assert client.get(f"/v1/distributions?crawl={OLD}").status_code == 200
    assert client.get("/v1/crawls").json()["damaged"] == []


def test_a_damaged_file_is_not_served_and_its_sound_neighbours_are(
    client: TestClient, data_dir: Path
) -> None:
    flip(folder_of(data_dir) / "distribution.parquet")
    for method in (client.get, client.head):
        answer = method(f"/releases/{OLD}/v1/distribution.parquet")
        assert answer.status_code == 503
        assert "etag" not in answer.headers
    assert client.get(f"/releases/{OLD}/v1/dictionary.json").status_code == 200


def test_the_etag_of_a_file_comes_from_its_bytes_and_not_from_a_forged_manifest(
    client: TestClient, data_dir: Path
) -> None:
    """A forged manifest with matching sums makes another release, and does not change the ETag of a file."""
    folder = folder_of(data_dir)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"]["distribution.parquet"] = "00" * 32
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert client.get(f"/releases/{OLD}/v1/distribution.parquet").headers.get("etag") != f'"{"00" * 32}"'


def test_each_file_is_read_once_and_again_after_a_change(
    client: TestClient, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder_of(data_dir) / "distribution.parquet"
    read: list[Path] = []

    def counted(path: Path) -> str:
        read.append(path)
        return sha256(path)

    monkeypatch.setattr("api.stored.inspection.sha256", counted)
    for _ in range(3):
        assert client.get(f"/releases/{OLD}/v1/distribution.parquet").status_code == 200
    assert read.count(path) == 1
    times = path.stat()
    flip(path)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # as if nothing had been
    assert client.get(f"/releases/{OLD}/v1/distribution.parquet").status_code == 503
    assert read.count(path) == 2


def test_an_unchecked_file_is_listed_as_such_and_checked_before_it_is_served(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection, "CHECKED_AT_ONCE_BYTES", 1)
    flip(folder_of(data_dir) / "distribution.parquet")
    with serving(data_dir / "releases") as client:
        checked = {
            release["provenance"]["is_checked"] for release in client.get("/v1/releases").json()["releases"]
        }
        assert False in checked
        assert client.get(f"/v1/distributions?crawl={OLD}").status_code == 503
        for _ in range(20):  # a file at each look
            found = client.get("/v1/crawls").json()
        assert [one["crawl"] for one in found["damaged"]] == [OLD]
        assert {crawl["provenance"]["is_checked"] for crawl in found["crawls"]} == {True}


def test_a_withdrawn_version_is_gone_and_listed_as_withdrawn(client: TestClient, data_dir: Path) -> None:
    withdraw(folder_of(data_dir, "2026-11", 1))
    for path in (
        f"/releases/{CRAWL}/v1",
        f"/releases/{CRAWL}/v1/distribution.parquet",
        f"/releases/{CRAWL}/v1/x",
    ):
        assert_problem(client.get(path), "withdrawn", 410)
    for path in ("/v1/crawls", "/v1/releases"):
        assert client.get(path).json()["withdrawn"] == [{"crawl": CRAWL, "version": 1}]
    assert client.get(f"/v1/distributions?crawl={CRAWL}").json()["provenance"]["version"] == 2
    assert "1 (withdrawn)" in client.get(f"/releases/{CRAWL}/v2").text


def test_a_crawl_whose_versions_are_all_withdrawn_is_gone(client: TestClient, data_dir: Path) -> None:
    withdraw(folder_of(data_dir))
    assert_problem(client.get(f"/v1/distributions?crawl={OLD}"), "withdrawn", 410)
    assert OLD not in {crawl["crawl"] for crawl in client.get("/v1/crawls").json()["crawls"]}
    assert "withdrawn" in client.get("/releases").text


@pytest.fixture
def sealed_report(data_dir: Path) -> Path:
    """A report as reports are now made: without subfolders, with checksums."""
    folder = data_dir / "reports/2026/v1"
    (folder / "figures/cdf.svg").unlink()
    (folder / "figures").rmdir()
    seal(folder, {"year": 2026})
    return folder


def test_a_damaged_report_is_listed_as_damaged_and_its_damaged_file_is_not_served(
    client: TestClient, sealed_report: Path
) -> None:
    (sound,) = client.get("/v1/reports").json()["reports"]
    assert len(sound["checksum"]) == 64
    flip(sealed_report / "report.json")
    found = client.get("/v1/reports").json()
    assert ([one["year"] for one in found["damaged"]], found["reports"]) == (["2026"], [])
    assert "<strong>Damaged</strong> (report.json" in client.get("/reports").text
    assert_problem(client.get("/reports/2026/v1/report.json"), "damaged-file", 503)
    assert client.get("/reports/2026/").status_code == 200


def test_the_etag_of_a_report_file_comes_from_its_bytes(client: TestClient, data_dir: Path) -> None:
    path = data_dir / "reports/2026/v1/summary.txt"
    before = client.get("/reports/2026/v1/summary.txt").headers["etag"]
    times = path.stat()
    path.write_text("no chance\n")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    seal(path.parent, {"kind": "report", "year": 2026})
    assert client.get("/reports/2026/v1/summary.txt").headers["etag"] != before


def test_signatures_are_shown_and_a_bad_one_is_damage(
    data_dir: Path, tmp_path_factory: pytest.TempPathFactory, sealed_report: Path
) -> None:
    keys = tmp_path_factory.mktemp("keys")
    signer, stranger = make_signer(keys), make_signer(keys, "stranger@example.org")
    for folder in (sealed_report, folder_of(data_dir)):
        signer.sign(folder)
    stranger.sign(folder_of(data_dir, "2026-11", 2))
    with serving(data_dir / "releases", allowed_signers=signer.allowed_signers) as client:
        found = {crawl["crawl"]: crawl["provenance"] for crawl in client.get("/v1/crawls").json()["crawls"]}
        assert {name: (one["signature"], one["signed_by"]) for name, one in found.items()} == {
            OLD: ("good", "releases@example.org"),
            CRAWL: ("unsigned", None),  # its version 1
            MOBILE: ("unsigned", None),
        }
        (report,) = client.get("/v1/reports").json()["reports"]
        assert (report["signature"], report["signed_by"]) == ("good", "releases@example.org")
        assert "signed by releases@example.org" in client.get(f"/releases/{OLD}/v1").text
        refused = client.get(f"/releases/{CRAWL}/v2")
        assert (refused.status_code, "its signature does not count" in refused.text) == (503, True)
        assert "its signature does not count" in client.get("/releases").text
        assert "unsigned" in client.get(f"/releases/{MOBILE}/v1").text
        for path in ("/releases", "/reports"):
            assert client.get(path).text.count("signed by releases@example.org") == 1
        signed = client.get(f"/releases/{OLD}/v1/SHA256SUMS.sig")
        assert signed.text.startswith("-----BEGIN SSH SIGNATURE-----")
