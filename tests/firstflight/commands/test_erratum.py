"""An operator records errata of releases, lists them, and has them verified and signed."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from firstflight.main import main
from schema.crawls import CrawlName
from storage.sums import MANIFEST
from tests.factories.made_up_release import smallest_release
from tests.factories.signing import make_signer

pytestmark = pytest.mark.process

CRAWL = CrawlName(month="2026-11")
ADD = ("erratum", "add", "--release", "2026-11", "--wrong", "sizes are null", "--advice", "use version 2")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    smallest_release(tmp_path / "releases", CRAWL)
    monkeypatch.setenv("FIRSTFLIGHT_DATA_DIR", str(tmp_path))
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_an_erratum_is_recorded_listed_and_verified(data: Path) -> None:
    assert run("erratum", "list").stdout == f"no errata of the releases in {data}/releases\n"
    done = run(*ADD, "--since", "2026-10")
    assert done.exit_code == 0, done.output
    assert "recorded erratum 1 of 2" in done.stdout
    listed = run("erratum", "list").stdout
    assert f"{CRAWL} version 1, since 2026-10: sizes are null. use version 2\n" in listed
    (erratum,) = json.loads(run("erratum", "list", "--json").stdout)["errata"]
    assert (erratum["number"], erratum["releases"][0]["crawl"]) == (1, str(CRAWL))
    assert "ok        erratum 1: 1 files are as in SHA256SUMS [unsigned]" in run("verify", "--offline").stdout


def test_a_changed_erratum_and_one_of_another_release_are_damaged(data: Path) -> None:
    run(*ADD)
    path = data / "releases" / "errata" / "1" / MANIFEST
    before = path.read_text()
    path.write_text(before.replace("are null", "are right"))
    damaged = run("verify", "--offline")
    assert damaged.exit_code == 1
    assert "DAMAGED   erratum 1: missing, or not as SHA256SUMS says: manifest.json" in damaged.stdout
    path.write_text(before)
    folder = CRAWL.path(data / "releases", version=1)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    smallest_release(data / "releases", CRAWL, commit="c0ffee")
    assert f"about another {CRAWL} version 1 than the one that is there" in run("verify", "--offline").stdout


def test_errata_are_signed_as_they_are_recorded_or_later(
    data: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(*ADD)
    signer = make_signer(tmp_path_factory.mktemp("keys"))
    monkeypatch.setenv("FIRSTFLIGHT_SIGNING_KEY", str(signer.key))
    monkeypatch.setenv("FIRSTFLIGHT_ALLOWED_SIGNERS", str(signer.allowed_signers))
    run(*ADD)
    assert (data / "releases/errata/2/SHA256SUMS.sig").exists()
    assert "erratum 1: signed by releases@example.org" in run("sign").stdout
    assert (data / "releases/errata/1/SHA256SUMS.sig").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--release", "2031-01"], 1, "no release of crawl '2031-01'"),
        (["--column", "page.bytes"], 1, "has no column 'page.bytes'"),
        (["--column", "visit.id"], 1, "visit.parquet is damaged: restore the release from a copy"),
        (["--since", "yesterday"], 1, "write it as 2026-10 or 2026-10-05"),
        (["--replaces", "4"], 1, "there is no erratum 4"),
        (["--wrong", "two\nlines"], 2, "write one line of 1 to 1000 characters"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_recorded(
    data: Path, arguments: list[str], code: int, message: str
) -> None:
    done = run(*ADD, *arguments)
    assert (done.exit_code, message in done.stderr) == (code, True), done.output
    assert code == 2 or done.stderr.count("\n") == 1
    assert not (data / "releases" / "errata").exists()
