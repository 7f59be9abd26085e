"""Versions of a report as an operator makes, lists, checks and withdraws them, over real files."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from firstflight.main import main
from storage.sums import manifest_of
from tests.factories.made_up_report import crawl, crawl_with_another_page, write_whole_release
from tests.factories.undrawn import undrawn

pytestmark = pytest.mark.process

BUILD = ("report", "build", "--year", "2026", "--without-replay")
WHY = ("--reason", "a page was added", "--corrects", "shares by up to 3 %")


@pytest.fixture(scope="module", autouse=True)
def without_drawings() -> Iterator[None]:
    with undrawn():
        yield


@pytest.fixture(scope="module")
def first(without_drawings: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a release of 2026 and the first version of its report."""
    data = tmp_path_factory.mktemp("first")
    write_whole_release(data, crawl())
    built = CliRunner().invoke(
        main, [*BUILD, "--date", "2027-01-15"], env={"FIRSTFLIGHT_DATA_DIR": str(data)}
    )
    assert built.stdout == f"{data}/reports/2026/v1/index.html\n", built.output
    return data


@pytest.fixture(scope="module")
def second(first: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same folder with a second version of its report, over another release."""
    data = shutil.copytree(first, tmp_path_factory.mktemp("second") / "data")
    change_inputs(data)
    call = [*BUILD, "--version", "next", *WHY, "--date", "2027-03-01"]
    built = CliRunner().invoke(main, call, env={"FIRSTFLIGHT_DATA_DIR": str(data)})
    assert built.stdout == f"{data}/reports/2026/v2/index.html\n", built.output
    return data


@pytest.fixture
def data(first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy with the first version that a test may change."""
    folder = shutil.copytree(first, tmp_path / "data")
    monkeypatch.setenv("FIRSTFLIGHT_DATA_DIR", str(folder))
    return folder


@pytest.fixture
def two(second: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy with both versions that a test may change."""
    folder = shutil.copytree(second, tmp_path / "data")
    monkeypatch.setenv("FIRSTFLIGHT_DATA_DIR", str(folder))
    return folder


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def change_inputs(data: Path) -> None:
    write_whole_release(data, crawl_with_another_page(), version=2)


def one_line(result: Result) -> str:
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1), result.output
    return result.stderr


def test_a_rerun_over_the_same_inputs_ends_well_and_publishes_nothing(data: Path) -> None:
    before = contents(data / "reports/2026/v1")
    for options in ((), ("--version", "1"), ("--version", "next", *WHY)):
        again = run(*BUILD, *options)
        assert (again.exit_code, again.stdout) == (0, f"{data}/reports/2026/v1/index.html\n")
        digest = manifest_of(data / "reports/2026/v1")["content_sha256"]
        assert f"version 1 is there already with equal content (sha256 {digest})" in again.stderr
    assert [path.name for path in (data / "reports/2026").iterdir()] == ["v1"]
    assert contents(data / "reports/2026/v1") == before


def test_other_inputs_are_refused_with_the_command_that_makes_the_next_version(data: Path) -> None:
    before = contents(data / "reports/2026/v1")
    change_inputs(data)
    for options in ((), ("--version", "1", *WHY)):
        line = one_line(run(*BUILD, *options))
        assert "version 1 of the report for 2026 is published and would not be the same now" in line
        assert "version 2 (" in line
        assert "`firstflight report build --year 2026 --version 2 --reason '...' --corrects '...'`" in line
    assert contents(data / "reports/2026/v1") == before
    assert [path.name for path in (data / "reports/2026").iterdir()] == ["v1"]


def test_other_inputs_become_no_version_without_a_reason(data: Path) -> None:
    change_inputs(data)
    for lacking in ((), WHY[:2], WHY[2:]):
        assert "needs a reason and what it corrects" in one_line(run(*BUILD, "--version", "next", *lacking))


def test_other_inputs_become_the_next_version_with_its_reason(first: Path, two: Path) -> None:
    published = manifest_of(two / "reports/2026/v2")["publication"]
    assert (published["version"], published["date"]) == (2, "2027-03-01")
    assert (published["reason"], published["corrects"]) == ("a page was added", "shares by up to 3 %")
    assert len(published["supersedes"]) == 64
    (changed,) = published["changed"]
    assert changed.startswith("the release: ")
    content = json.loads((two / "reports/2026/v2/report.json").read_text())
    assert content["publication"] == published
    refused = "The report for 2026, version 2, is illustrative"
    assert content["citation"]["line"].startswith(refused)
    assert content["citation"]["bibtex"].startswith(f"% {refused}")
    assert (
        manifest_of(two / "reports/2026/v2")["content_sha256"]
        != manifest_of(two / "reports/2026/v1")["content_sha256"]
    )
    assert contents(two / "reports/2026/v1") == contents(first / "reports/2026/v1")
    assert run(*BUILD, "--version", "next", *WHY).exit_code == 0
    assert sorted(path.name for path in (two / "reports/2026").iterdir()) == ["v1", "v2"]


def test_a_number_out_of_turn_and_a_text_that_is_no_line_are_refused(data: Path) -> None:
    assert "the next version of the report for 2026 is 2" in one_line(run(*BUILD, "--version", "3", *WHY))
    assert not (data / "reports/2026/v3").exists()
    for version in ("0", "-1", "two", "10000", "٢"):
        assert run(*BUILD, "--version", version).exit_code == 2
    for text in ("", " ", "two\nlines", "\x1b[2J", "\u202e", "x" * 1001):
        assert run(*BUILD, "--version", "1", "--reason", text).exit_code == 2


def test_what_was_withdrawn_is_not_published_again_by_a_rerun(data: Path) -> None:
    assert (
        run("report", "withdraw", "--year", "2026", "--version", "1", "--reason", "wrong kernel").exit_code
        == 0
    )
    for options in ((), ("--version", "next", *WHY)):
        line = one_line(run(*BUILD, *options))
        assert "version 1 of the report for 2026 has equal content and is withdrawn (wrong kernel)" in line
    again = run(*BUILD, "--version", "2", "--reason", "withdrawn by mistake", "--corrects", "nothing")
    assert again.stdout == f"{data}/reports/2026/v2/index.html\n", again.output


def test_a_damaged_version_is_not_followed_by_another_until_it_is_restored_or_withdrawn(data: Path) -> None:
    (data / "reports/2026/v1/summary.txt").write_text("IW 100")
    change_inputs(data)
    line = one_line(run(*BUILD, "--version", "next", *WHY))
    assert (
        "is damaged (summary.txt): restore it from a copy, or withdraw it by `firstflight report withdraw"
        in line
    )
    assert run("report", "withdraw", "--year", "2026", "--version", "1", "--reason", "damaged").exit_code == 0
    assert run(*BUILD, "--version", "next", *WHY).exit_code == 0


def test_versions_are_listed_with_their_standing(two: Path) -> None:
    assert run("report", "versions", "--year", "2026").stdout.splitlines() == [
        "2026 v1 of 2027-01-15: superseded",
        "2026 v2 of 2027-03-01: newest; made because: a page was added; corrects: shares by up to 3 %",
    ]
    run("report", "withdraw", "--year", "2026", "--version", "2", "--reason", "wrong kernel")
    (two / "reports/2026/v1/report.json").unlink()
    first, second = json.loads(run("report", "versions", "--json").stdout)["versions"]
    assert (first["standing"], first["is_damaged"]) == ("newest", True)
    assert (second["standing"], second["withdrawal"]["reason"]) == ("withdrawn", "wrong kernel")


def test_a_withdrawal_is_made_once_and_names_a_version_that_is_there(data: Path) -> None:
    withdraw = ("report", "withdraw", "--year", "2026", "--reason", "wrong kernel", "--version")
    assert "has no version 2; there are: 1" in one_line(run(*withdraw, "2"))
    assert run(*withdraw, "1").stdout == "version 1 of the report for 2026 is withdrawn: wrong kernel\n"
    assert "is withdrawn already: wrong kernel" in one_line(run(*withdraw, "1"))


def test_verify_checks_versions_and_notices_and_fails_where_one_is_damaged(data: Path) -> None:
    assert "no report '2025' is stored" in one_line(run("verify", "report", "2025"))
    run("report", "withdraw", "--year", "2026", "--version", "1", "--reason", "wrong kernel")
    sound = run("verify", "report", "2026")
    assert sound.exit_code == 0
    assert [line.split(":")[0] for line in sound.stdout.splitlines()] == [
        "ok        report 2026 v1",
        "ok        withdrawal 2026 v1",
        "2 checked, none damaged",
    ]
    everything = run("verify", "--offline")
    assert everything.exit_code == 0, everything.output
    assert "ok        withdrawal 2026 v1" in everything.stdout
    manifest = data / "reports/2026/v1-withdrawn/manifest.json"
    manifest.write_text(manifest.read_text().replace("wrong", "right"))
    damaged = run("verify", "report", "2026", "--json")
    assert damaged.exit_code == 1
    assert [item["state"] for item in json.loads(damaged.stdout)["items"]] == ["ok", "damaged"]


def test_a_copy_of_the_data_folder_has_every_version_and_every_withdrawal(
    two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copied as `scripts/backup` and `scripts/restore` copy it: by tar, from one folder to an empty one."""
    assert (
        run("report", "withdraw", "--year", "2026", "--version", "1", "--reason", "wrong kernel").exit_code
        == 0
    )
    asked = (("report", "versions", "--year", "2026"), ("verify", "report", "2026"))
    before = [run(*command).stdout for command in asked]
    archive, restored = tmp_path / "data.tar", tmp_path / "restored"
    subprocess.run(["tar", "-C", two, "-cf", archive, "."], check=True)
    restored.mkdir()
    subprocess.run(["tar", "-C", restored, "-xf", archive], check=True)
    shutil.rmtree(two)
    monkeypatch.setenv("FIRSTFLIGHT_DATA_DIR", str(restored))
    assert [run(*command).stdout for command in asked] == before
    assert run("verify", "--offline").exit_code == 0


def test_a_version_in_the_place_of_another_is_damaged(data: Path) -> None:
    (data / "reports/2026/v1").rename(data / "reports/2026/v2")
    verified = run("verify", "report", "2026")
    assert verified.exit_code == 1
    assert "it is the report of 2026 v1" in verified.stdout
