"""The service shows what was found wrong in a release with it, on a page of all, and in its answers."""

import json
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from releases.errata import record
from storage.sums import MANIFEST, manifest_of, seal
from tests.api.test_damaged import folder_of, withdraw
from tests.api.test_v1 import assert_problem

CRAWL = "2026-11.desktop.local.tcp.localweb"
OTHER = "2026-10.desktop.local.tcp.localweb"
WRONG = "sizes of <b>folded</b> headers are counted twice"


@pytest.fixture
def noted(data_dir: Path) -> Path:
    record(
        data_dir / "releases",
        [f"{CRAWL}/v1", OTHER],
        wrong=WRONG,
        advice="use version 2",
        date="2026-12-04",
        columns=["distribution.count"],
        since="2026-10-05",
    )
    return data_dir


def test_without_errata_page_and_answers_say_so(client: TestClient) -> None:
    assert client.get("/v1/errata").json() == {
        "damaged": [], "withdrawn": [], "errata": [], "damaged_errata": [],
    }  # fmt: skip
    assert "None is recorded." in client.get("/errata").text


def test_an_erratum_stands_on_the_page_of_its_releases_alone(noted: Path, client: TestClient) -> None:
    for path, has in (
        (f"/releases/{CRAWL}/v1", True),
        (f"/releases/{CRAWL}/v2", False),
        (f"/releases/{OTHER}/v1", True),
    ):
        page = client.get(path)
        assert ("Erratum 1" in page.text) == has, path
        assert ("sizes of &lt;b&gt;folded&lt;/b&gt; headers" in page.text) == has
        assert (
            '</errata#1>; rel="describedby"; type="text/html"; title="erratum"' in page.headers["link"]
        ) == has


def test_the_page_of_errata_has_every_erratum_with_its_place(noted: Path, client: TestClient) -> None:
    page = client.get("/errata").text
    assert '<section id="1">' in page
    for words in (
        "use version 2",
        "<code>distribution.count</code>",
        "2026-10-05",
        "2026-12-04",
        f"/releases/{CRAWL}/v1",
    ):
        assert words in page
    assert '<a href="/errata">' in client.get("/").text


def test_errata_are_answered_as_json_of_all_of_a_crawl_and_of_a_version(
    noted: Path, client: TestClient
) -> None:
    (found,) = client.get("/v1/errata").json()["errata"]
    assert (found["wrong"], found["advice"], found["since"]) == (WRONG, "use version 2", "2026-10-05")
    assert [(release["crawl"], release["version"]) for release in found["releases"]] == [
        (CRAWL, 1),
        (OTHER, 1),
    ]
    assert (found["url"], found["replaced_by"], found["signature"]) == ("/errata#1", None, "unsigned")
    for query, number in (
        (f"crawl={CRAWL}", 1),
        (f"crawl={CRAWL}&version=1", 1),
        (f"crawl={CRAWL}&version=2", 0),
    ):
        assert len(client.get(f"/v1/errata?{query}").json()["errata"]) == number, query
    assert_problem(client.get("/v1/errata?version=1"), "bad-parameter", 400, mentions="crawl")
    assert_problem(client.get("/v1/errata?crawl=2031-01"), "no-such-crawl", 404)


def test_numbers_and_files_of_a_release_lead_to_its_errata(noted: Path, client: TestClient) -> None:
    for version, errata in ((1, ["/errata#1"]), (2, [])):
        asked: dict[str, str | int] = {"crawl": CRAWL, "version": version}
        assert client.get("/v1/distributions", params=asked).json()["provenance"]["errata"] == errata
        (listed,) = client.get("/v1/releases", params=asked).json()["releases"]
        assert listed["provenance"]["errata"] == errata
        file = client.get(f"/releases/{CRAWL}/v{version}/distribution.parquet")
        assert ("</errata#1>" in file.headers["link"]) == bool(errata)


def test_an_erratum_changes_no_file_and_answers_kept_before_are_not_given_again(
    data_dir: Path, client: TestClient
) -> None:
    path = f"/v1/distributions?crawl={CRAWL}&version=1"
    before, file = client.get(path), client.get(f"/releases/{CRAWL}/v1/SHA256SUMS")
    assert client.get(path, headers={"If-None-Match": before.headers["etag"]}).status_code == 304
    record(data_dir / "releases", [f"{CRAWL}/v1"], wrong="a", advice="b", date="2026-12-04")
    after = client.get(path, headers={"If-None-Match": before.headers["etag"]})
    assert (after.status_code, after.json()["provenance"]["errata"]) == (200, ["/errata#1"])
    again = client.get(f"/releases/{CRAWL}/v1/SHA256SUMS")
    assert (again.content, again.headers["etag"]) == (file.content, file.headers["etag"])


def test_a_replaced_erratum_is_kept_and_leads_to_the_later_one(noted: Path, client: TestClient) -> None:
    record(noted / "releases", [OTHER], wrong="only these", advice="c", date="2026-12-05", replaces=1)
    later, first = client.get("/v1/errata").json()["errata"]
    assert (later["number"], later["replaces"], first["replaced_by"]) == (2, 1, 2)
    assert 'replaced by <a href="#2">erratum 2</a>' in client.get("/errata").text
    assert "Erratum" not in client.get(f"/releases/{CRAWL}/v1").text.split("<h2>Share that fits")[0]
    assert "Erratum 2" in client.get(f"/releases/{OTHER}/v1").text


def test_a_damaged_erratum_is_named_as_damaged_and_hides_no_other(noted: Path, client: TestClient) -> None:
    record(noted / "releases", [CRAWL], wrong="another", advice="d", date="2026-12-05")
    folder = noted / "releases" / "errata" / "1"
    (folder / MANIFEST).write_text(json.dumps(manifest_of(folder) | {"advice": "use version 1"}))
    found = client.get("/v1/errata").json()
    assert (found["damaged_errata"], [entry["number"] for entry in found["errata"]]) == ([1], [2])
    assert "<strong>Erratum 1 is damaged</strong>" in client.get("/errata").text
    assert client.get(f"/releases/{CRAWL}/v1").status_code == 200
    (folder / "SHA256SUMS").unlink()
    seal(folder, {"kind": "erratum", "number": [1], "releases": []})
    assert client.get("/v1/errata").json()["damaged_errata"] == [1]


def test_withdrawn_versions_stand_on_the_page_of_errata(client: TestClient, data_dir: Path) -> None:
    withdraw(folder_of(data_dir))
    assert f"{OTHER}, version 1: a site was withdrawn" in client.get("/errata").text
    assert client.get("/v1/errata").json()["withdrawn"] == [{"crawl": OTHER, "version": 1}]
    gone = client.get(f"/releases/{OTHER}/v1")
    assert_problem(gone, "withdrawn", 410)
    assert gone.json()["see"] == "/errata#withdrawn"
