"""Versions of reports are served for good, and every page says how its version stands."""

import dataclasses
import hashlib
import html
import re
import shutil
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.routes.annual_reports import header_style
from storage.report_versions import Publication, erase, find_version, put_editions, withdraw
from storage.steps import Step, remove_steps, write_steps
from storage.sums import manifest_of, seal
from tests.api.conftest import serving
from tests.api.test_v1 import assert_problem
from tests.factories.answers import made_up_answer
from tests.factories.published_report import SECOND, write_version
from tests.factories.signing import make_signer

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}

FORMS = (
    "forms/report.md",
    "forms/report.txt",
    "forms/report.pdf",
    "forms/draft/draft-you-00.md",
    "report.json",
)


def line_of(page: str) -> str:
    start, end = page.index('<aside aria-label="Version'), page.index("</aside>")
    assert page.index("<body>") < start < page.index("<h1>")
    return html.unescape(" ".join(page[start:end].split()))


def test_a_year_redirects_to_its_newest_version_and_is_never_cached(client: TestClient, two: Path) -> None:
    for path in ("/reports/2025", "/reports/2025/"):
        answer = client.get(path, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (307, "/reports/2025/v2/")
        assert answer.headers["cache-control"] == "no-store"
    withdraw(find_version(two.parent, 2025, 2), reason="wrong", date="2027-04-01")
    assert client.get("/reports/2025/", follow_redirects=False).headers["location"] == "/reports/2025/v1/"
    withdraw(find_version(two.parent, 2025, 1), reason="wrong too", date="2027-04-02")
    assert client.get("/reports/2025/", follow_redirects=False).headers["location"] == "/reports/2025/v2/"


def test_the_page_of_a_version_offers_its_pictures_to_take_until_it_is_withdrawn(
    client: TestClient, data_dir: Path, whole_report: Path
) -> None:
    versions = data_dir / "reports" / "2026"
    shutil.rmtree(versions)
    shutil.copytree(whole_report, versions / "v1")
    page = client.get("/reports/2026/v1/").text
    offered = re.findall(r'href="(/reports/2026/v1/forms/pictures/[^"]*)">(SVG|PNG|data)<', page)
    assert {("not-fitting.svg", "SVG"), ("not-fitting.png", "PNG"), ("not-fitting.csv", "data")} <= {
        (address.rpartition("/")[2], form) for address, form in offered
    }
    assert {client.get(address).status_code for address, _ in offered} == {200}
    withdraw(find_version(versions.parent, 2026, 1), reason="wrong", date="2027-04-01")
    assert "forms/pictures" not in client.get("/reports/2026/v1/").text


def test_an_address_without_version_leads_to_the_file_of_the_newest(client: TestClient, two: Path) -> None:
    answer = client.get("/reports/2025/report.json", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, "/reports/2025/v2/report.json")
    assert answer.headers["cache-control"] == "no-store"
    assert client.get("/reports/2025/report.json").json()["publication"]["version"] == 2
    assert_problem(client.get("/reports/2025/nothing.csv"), "no-such-file", 404)


def test_a_page_says_that_its_version_is_the_newest_or_superseded_and_why(
    client: TestClient, two: Path
) -> None:
    newest = line_of(client.get("/reports/2025/v2/").text)
    assert "Version 2 of 2027-03-01, the newest." in newest
    assert 'href="/reports/2025/errata"' in newest
    older = client.get("/reports/2025/v1/")
    assert "two <sites>" not in older.text
    assert "<strong>Superseded.</strong> This is version 1" in line_of(older.text)
    assert 'href="/reports/2025/v2/">version 2</a> is the newest' in line_of(older.text)
    assert "It corrects: shares by up to 0.1 %." in line_of(older.text)
    assert older.headers["cache-control"] == "public, no-cache"
    assert line_of(client.get("/reports/2025/v1/draft.html").text) == line_of(older.text)


def test_a_withdrawn_version_says_so_on_every_page_at_once_and_its_files_stay(
    client: TestClient, two: Path
) -> None:
    before = client.get("/reports/2025/v1/").headers["etag"]
    files = {path.name: path.read_bytes() for path in (two / "v1").iterdir()}
    withdraw(find_version(two.parent, 2025, 1), reason="the kernel was <wrong>", date="2027-04-01")
    for name in ("", "index.html", "draft.html"):
        answer = client.get(f"/reports/2025/v1/{name}", headers={"If-None-Match": before})
        assert answer.status_code == 200
        assert "Withdrawn on 2027-04-01: the kernel was <wrong>." in line_of(answer.text)
        assert "<wrong>" not in answer.text
    for name, content in files.items():
        assert client.get(f"/reports/2025/v1/files/{name}").content == content
    assert "withdrawn" not in line_of(client.get("/reports/2025/v2/").text).split("two <sites>")[0]


def test_the_files_of_a_version_are_served_as_its_sums_list_them(client: TestClient, two: Path) -> None:
    sums = client.get("/reports/2025/v1/files/SHA256SUMS").text.splitlines()
    assert len(sums) == 5
    for line in sums:
        checksum, name = line.split("  ")
        answer = client.get(f"/reports/2025/v1/files/{name}")
        assert hashlib.sha256(answer.content).hexdigest() == checksum
        assert answer.headers["cache-control"] == "public, max-age=86400, immutable"
    for name in ("report.json", "summary.txt"):
        at_its_address = client.get(f"/reports/2025/v2/{name}")
        assert at_its_address.content == (two / "v2" / name).read_bytes()
        assert at_its_address.headers["cache-control"] == "public, no-cache"


def test_every_file_names_its_lasting_address_its_citation_and_its_licence(
    client: TestClient, two: Path
) -> None:
    for name, canonical in (
        ("", ""),
        ("index.html", ""),
        ("summary.txt", "summary.txt"),
        ("files/index.html", ""),
    ):
        links = client.get(f"/reports/2025/v1/{name}").headers["link"].split(", ")
        successor = '</reports/2025/v2/>; rel="successor-version"'
        assert links == [
            f'</reports/2025/v1/{canonical}>; rel="canonical"',
            '</reports/2025/v1/>; rel="cite-as"',
            '<https://creativecommons.org/licenses/by/4.0/>; rel="license"',
            '</reports/2025/errata>; rel="describedby"',
            '</reports/2025/>; rel="latest-version"',
            '</reports/2025/errata>; rel="version-history"',
            successor,
        ]
    assert "successor" not in client.get("/reports/2025/v2/report.json").headers["link"]


def test_the_errata_list_every_version_with_its_reason_its_corrections_and_its_withdrawal(
    client: TestClient, two: Path
) -> None:
    withdraw(find_version(two.parent, 2025, 1), reason="wrong kernel", date="2027-04-01")
    page = client.get("/reports/2025/errata").text
    first, second = page.index('id="v1"'), page.index('id="v2"')
    assert second < first
    assert "the newest" in page[second:first]
    assert "two &lt;sites&gt; were withdrawn" in page[second:first]
    assert "shares by up to 0.1 %" in page[second:first]
    assert "the release: version 2 in place of version 1" in page[second:first]
    assert "2027-04-01: wrong kernel" in page[first:]
    assert_problem(client.get("/reports/1999/errata"), "no-such-report", 404)


def test_the_list_of_reports_has_every_version_with_its_files(client: TestClient, two: Path) -> None:
    withdraw(find_version(two.parent, 2025, 1), reason="wrong kernel", date="2027-04-01")
    of_2026, report = client.get("/v1/reports").json()["reports"]
    assert (of_2026["year"], of_2026["version"], report["year"], report["version"]) == ("2026", 1, "2025", 2)
    assert (report["url"], report["json_url"]) == ("/reports/2025/", "/reports/2025/v2/report.json")
    second, first = report["versions"]
    assert [(entry["version"], entry["standing"]) for entry in (second, first)] == [
        (2, "newest"),
        (1, "withdrawn"),
    ]
    assert (second["reason"], second["corrects"]) == (SECOND.reason, SECOND.corrects)
    assert (second["supersedes"], second["changed"]) == (SECOND.supersedes, SECOND.changed)
    assert (first["withdrawn_on"], first["withdrawn_because"]) == ("2027-04-01", "wrong kernel")
    assert first["reason"] is None
    for entry in (first, second):
        assert "; release x. CC-BY-4.0." in entry["cite_as"]
        for file in entry["files"]:
            content = client.get(file["url"]).content
            assert len(content) == file["bytes"]
            assert file["name"] == "SHA256SUMS" or hashlib.sha256(content).hexdigest() == file["sha256"]
        assert len(entry["files"]) == 6


def test_a_missing_version_is_a_problem_and_a_page_for_people(client: TestClient, two: Path) -> None:
    for path in (
        "/reports/2025/v3/",
        "/reports/2025/v3",
        "/reports/2025/v3/report.json",
        "/reports/2025/v3/files/a",
    ):
        problem = assert_problem(client.get(path), "no-such-report", 404, mentions="there are: 1, 2")
        assert problem["see"] == "/reports/2025/errata"
    page = client.get("/reports/2025/v3/", headers=BROWSER)
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert 'href="/reports/2025/errata"' in page.text
    assert "<p>The report of 2025 has no version 3; there are: 1, 2.</p>" in page.text
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    hostile = client.get("/reports/2025/%3Cscript%3E", headers=BROWSER)
    assert (hostile.status_code, "<script>" in hostile.text) == (404, False)
    assert client.get("/reports/2025/v0/").status_code == 404


def test_an_erased_version_is_gone_and_listed(client: TestClient, two: Path) -> None:
    erase(find_version(two.parent, 2025, 1), reason="a site was withdrawn", date="2027-04-01")
    for name in ("", "report.json", "files/index.html"):
        assert_problem(
            client.get(f"/reports/2025/v1/{name}"), "withdrawn", 410, mentions="a site was withdrawn"
        )
    _, report = client.get("/v1/reports").json()["reports"]
    assert [(version["standing"], len(version["files"])) for version in report["versions"]] == [
        ("newest", 6),
        ("erased", 0),
    ]
    assert "Its files were erased" in client.get("/reports/2025/errata").text
    assert client.get("/reports/2025/").status_code == 200


def test_a_damaged_newest_version_is_not_replaced_by_an_older_one(client: TestClient, two: Path) -> None:
    (two / "v2" / "summary.txt").write_text("IW 100\n")
    listed = client.get("/v1/reports").json()
    assert [(entry["year"], entry["version"]) for entry in listed["damaged"]] == [("2025", 2)]
    assert [report["year"] for report in listed["reports"]] == ["2026"]
    assert client.get("/reports/2025/", follow_redirects=False).headers["location"] == "/reports/2025/v2/"
    assert "Damaged here: summary.txt" in line_of(client.get("/reports/2025/v2/").text)
    assert_problem(client.get("/reports/2025/v2/summary.txt"), "damaged-file", 503)


def test_a_damaged_notice_withdraws_too(client: TestClient, two: Path) -> None:
    withdraw(find_version(two.parent, 2025, 1), reason="wrong", date="2027-04-01")
    (two / "v1-withdrawn" / "manifest.json").write_text("[")
    assert "Withdrawn: the notice of withdrawal is damaged" in line_of(client.get("/reports/2025/v1/").text)
    assert [entry["version"] for entry in client.get("/v1/reports").json()["damaged"]] == [1]


def test_a_version_has_a_good_signature_where_it_was_signed(
    data_dir: Path, two: Path, tmp_path: Path
) -> None:
    signer = make_signer(tmp_path)
    signer.sign(two / "v2")
    with serving(data_dir / "releases", allowed_signers=signer.allowed_signers) as client:
        _, report = client.get("/v1/reports").json()["reports"]
        assert [version["signature"] for version in report["versions"]] == ["good", "unsigned"]
        assert client.get("/reports/2025/v2/files/SHA256SUMS.sig").text.startswith("-----BEGIN SSH SIGNATURE")


@pytest.fixture
def forms(two: Path) -> Path:
    """The folder of a year whose two versions have further forms."""
    for version in (two / "v1", two / "v2"):
        facts = manifest_of(version)
        del facts["files"]
        (version / "forms" / "draft").mkdir(parents=True)
        for name in FORMS[:-1]:
            (version / name).write_text(f"{name} of {version.name}\n")
        seal(version, facts)
    return two


def test_files_of_a_superseded_version_are_what_was_published_and_their_name_says_it(
    client: TestClient, forms: Path
) -> None:
    for name in ("forms/report.pdf", "forms/draft/draft-you-00.md", "report.json", "forms/report.md"):
        answer = client.get(f"/reports/2025/v1/{name}")
        assert answer.content == (forms / "v1" / name).read_bytes()
        saved = f"superseded-2025-v1-{Path(name).name}"
        assert answer.headers["content-disposition"] == f"inline; filename*=utf-8''{saved}"
        assert '</reports/2025/v2/>; rel="successor-version"' in answer.headers["link"]
    newest = client.get("/reports/2025/v2/forms/report.pdf")
    assert newest.headers["content-disposition"].endswith("''2025-v2-report.pdf")


def test_a_withdrawn_version_serves_no_form_that_does_not_say_so(client: TestClient, forms: Path) -> None:
    before = client.get("/reports/2025/v1/forms/report.pdf").headers["etag"]
    withdraw(find_version(forms.parent, 2025, 1), reason="the kernel was <wrong>.", date="2027-04-01")
    for name in ("forms/report.pdf", "forms/draft/draft-you-00.md", "report.json", "forms/report.md"):
        answer = client.get(f"/reports/2025/v1/{name}", headers={"If-None-Match": before})
        problem = assert_problem(answer, "withdrawn", 410, mentions="the kernel was <wrong>; the file as it")
        assert problem["see"] == "/reports/2025/errata"
        assert f"/reports/2025/v1/files/{name}" in problem["detail"]
        exactly = client.get(f"/reports/2025/v1/files/{name}")
        assert exactly.content == (forms / "v1" / name).read_bytes()
        assert "''withdrawn-2025-v1-" in exactly.headers["content-disposition"]
    assert_problem(client.get("/reports/2025/v1/nothing.pdf"), "no-such-file", 404)


def test_the_home_page_begins_with_the_answer_of_the_newest_report_that_stands(tmp_path: Path) -> None:
    reports = tmp_path / "reports"
    answer, other = made_up_answer("open"), made_up_answer("stays")
    write_version(reports / "2026", Publication(date="2026-11-26"), answer=dataclasses.asdict(answer))
    write_version(reports / "2025", Publication(date="2025-11-26"), answer=dataclasses.asdict(other))
    with serving(tmp_path / "releases") as client:
        page = html.unescape(client.get("/").text)
    headline = answer.headline.replace("IW ", "IW\u00a0")
    for part in ("The answer of 2026", headline, answer.sentences[0], answer.limits or ""):
        assert part in page
    withdraw(find_version(reports, 2026, 1), reason="wrong", date="2027-04-01")
    with serving(tmp_path / "releases") as client:
        page = html.unescape(client.get("/").text)
    assert "The answer of 2025" in page
    assert other.headline.replace("IW ", "IW\u00a0") in page
    assert answer.sentences[0] not in page


def keep_edition(folder: Path) -> str:
    """An edition of 2026 as a repository keeps it, without a folder of its version; its headline."""
    answer = dataclasses.asdict(made_up_answer("stays"))
    write_version(folder / "made" / "2026", Publication(date="2026-11-26"), answer=answer)
    (folder / "editions").mkdir()
    (folder / "made" / "2026" / "v1").rename(folder / "editions" / "2026")
    headline: str = answer["headline"].replace("IW ", "IW\u00a0")
    return headline


def test_the_edition_leads_and_what_the_bundled_web_gives_stands_below_it_as_your_crawl(
    tmp_path: Path,
) -> None:
    headline = keep_edition(tmp_path)
    reports, own = tmp_path / "reports", dataclasses.asdict(made_up_answer("open"))
    put_editions(tmp_path / "editions", reports)
    write_version(reports / "2026", Publication(date="2026-11-28"), answer=own, is_illustrative=True)
    with serving(tmp_path / "releases") as client:
        page = html.unescape(client.get("/").text)
        places = [page.index(part) for part in (headline, "Your crawl", own["headline"], own["sentences"][0])]
        assert places == sorted(places)
        assert page.count(headline) == 1
        assert client.get("/reports/2026-edition/").url.path == "/reports/2026-edition/v1/"
        assert client.get("/reports/2026/").url.path == "/reports/2026/v1/"
        index = html.unescape(client.get("/reports").text)
        assert f"2026, edition: {headline}".replace("\u00a0", " ") in index
        assert f"2026, illustrative: {own['headline']}" in index
        assert [report["year"] for report in client.get("/v1/reports").json()["reports"]] == [
            "2026",
            "2026-edition",
        ]


def test_an_own_answer_about_live_sites_leads_before_the_edition_of_its_year(tmp_path: Path) -> None:
    keep_edition(tmp_path)
    put_editions(tmp_path / "editions", tmp_path / "reports")
    own = dataclasses.asdict(made_up_answer("open"))
    write_version(tmp_path / "reports" / "2026", Publication(date="2026-11-28"), answer=own)
    with serving(tmp_path / "releases") as client:
        page = html.unescape(client.get("/").text)
    assert f'<h2 id="answer">{own["headline"]}'.replace("IW ", "IW\u00a0") in page
    assert "Your crawl" not in page


def test_the_home_page_shows_the_steps_of_a_demo_and_asks_again_until_they_have_ended(
    tmp_path: Path,
) -> None:
    progress = tmp_path / "progress"
    crawl = Step(
        name="crawl", what="5 crawls", is_begun=True, done=17, total=38, unit="sites", seconds_left=12
    )
    with serving(tmp_path / "releases", progress=progress) as client:
        assert "Refresh" not in client.get("/").headers
        write_steps(progress, [crawl, Step(name="replay", what="pages over Linux")])
        shown = client.get("/")
        assert shown.headers["Refresh"] == "5"
        assert "17 of 38 sites, 12&nbsp;s left" in shown.text
        write_steps(progress, [dataclasses.replace(crawl, seconds=25)])
        assert "<small>25&nbsp;s</small>" in client.get("/").text
        remove_steps(progress)
        assert "Refresh" not in client.get("/").headers


def test_the_home_page_shows_the_command_that_an_answer_asks_for_as_code(tmp_path: Path) -> None:
    answer = made_up_answer("no answer")
    assert "`firstflight replay backcast`" in answer.headline
    year = tmp_path / "reports" / "2026"
    write_version(year, Publication(date="2026-11-26"), answer=dataclasses.asdict(answer))
    with serving(tmp_path / "releases") as client:
        for path in ("/", "/reports"):
            page = client.get(path).text
            assert "<code>firstflight replay backcast</code>" in page, path
            assert "`" not in page.partition("<main")[2], path


def test_the_styles_of_the_header_reach_nothing_else_of_a_report() -> None:
    rules = re.sub(r"/\*.*?\*/|@[^{]*\{", "", header_style(), flags=re.DOTALL)
    selectors = [
        selector.strip() for rule in re.findall(r"([^{}]+)\{", rules) for selector in rule.split(",")
    ]
    assert len(selectors) > 10
    assert {re.split(r"[ :\[]", selector)[0] for selector in selectors} == {".site-head", ".report-head"}
