"""Files of a superseded or withdrawn version say so, in themselves, by their name, or by not being served."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from storage.report_versions import find_version, withdraw
from storage.sums import manifest_of, seal
from tests.api.test_v1 import assert_problem

FORMS = (
    "forms/report.md",
    "forms/report.txt",
    "forms/report.pdf",
    "forms/draft/draft-you-00.md",
    "report.json",
)


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


def test_a_text_of_a_superseded_version_begins_with_a_notice(client: TestClient, forms: Path) -> None:
    for name in ("summary.txt", "forms/report.txt", "forms/report.md"):
        answer = client.get(f"/reports/2025/v1/{name}")
        published = (forms / "v1" / name).read_text()
        notice = answer.text.removesuffix(published)
        assert notice.splitlines() == [
            "    SUPERSEDED: this is version 1 of the report for 2025.",
            "    The newest is version 2: /reports/2025/v2/",
            "    Version 2 was made because: two <sites> were withdrawn. It corrects:",
            "    shares by up to 0.1 %.",
            "    All versions: /reports/2025/errata",
            "",
        ]
        assert answer.headers["cache-control"] == "public, no-cache"
        again = client.get(f"/reports/2025/v1/{name}", headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert client.get(f"/reports/2025/v2/{name}").text == (forms / "v2" / name).read_text()


def test_other_files_of_a_superseded_version_are_what_was_published_and_their_name_says_it(
    client: TestClient, forms: Path
) -> None:
    for name in ("forms/report.pdf", "forms/draft/draft-you-00.md", "report.json"):
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
    for name in ("forms/report.pdf", "forms/draft/draft-you-00.md", "report.json"):
        answer = client.get(f"/reports/2025/v1/{name}", headers={"If-None-Match": before})
        problem = assert_problem(answer, "withdrawn", 410, mentions="the kernel was <wrong>; the file as it")
        assert problem["see"] == "/reports/2025/errata"
        assert f"/reports/2025/v1/files/{name}" in problem["detail"]
        exactly = client.get(f"/reports/2025/v1/files/{name}")
        assert exactly.content == (forms / "v1" / name).read_bytes()
        assert "''withdrawn-2025-v1-" in exactly.headers["content-disposition"]
    text = client.get("/reports/2025/v1/forms/report.md").text
    assert text.startswith("    WITHDRAWN ON 2027-04-01: the kernel was <wrong>.\n    Do not use version 1")
    assert "The newest is version 2" in text
    assert_problem(client.get("/reports/2025/v1/nothing.pdf"), "no-such-file", 404)


def test_a_reason_stays_text_in_a_notice(client: TestClient, forms: Path) -> None:
    reason = "# a heading, **stress**, [a link](javascript:alert(1)) and accents é " + "x" * 200
    withdraw(find_version(forms.parent, 2025, 1), reason=reason, date="2027-04-01")
    text = client.get("/reports/2025/v1/forms/report.md").text
    lines = text.split("\n\n")[0].splitlines()
    assert text.split("\n\n")[0].isascii()
    assert all(line.startswith("    ") and len(line) <= 72 for line in lines)
