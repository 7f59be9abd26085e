"""The edition of 2026 that the repository keeps: whole, small, and computed again from its files."""

import html.parser
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from firstflight.main import main
from releases.formatting import in_ascii
from reports.content import read_published
from reports.forms.draft import MOST_WORDS, draft_xml
from reports.forms.forms import band_columns, csv_text
from reports.inputs.carried import read_carried
from reports.publishing.edition import MOST_BYTES, MOST_FILES
from storage.report_versions import Publication, find_version, withdraw
from storage.sums import broken_sums, manifest_of, seal
from tests.circles import thorough
from tests.factories.published_report import write_version
from tests.factories.undrawn import undrawn
from verdict.calibration import finding_of
from verdict.verdict_file import to_data

pytestmark = pytest.mark.process

EDITION = Path(__file__).parents[3] / "editions" / "2026"


def run(data_dir: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, env={"FIRSTFLIGHT_DATA_DIR": str(data_dir)})


@pytest.fixture(scope="module")
def content() -> Any:
    return json.loads((EDITION / "report.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def rebuilt(content: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A data folder that was empty, and the report of sizes that the report's own commands make in it."""
    data_dir = tmp_path_factory.mktemp("empty")
    for command in content["redo"]:
        if command.startswith("firstflight import"):
            assert run(data_dir, *command.split()[1:]).exit_code == 0
    date = content["publication"]["date"]
    call = ("report", "build", "--year", "2026", "--crawl", "2025-08", "--without-replay", "--date", date)
    with undrawn():
        built = run(data_dir, *call, "--json")
    assert built.exit_code == 0, built.output
    return data_dir, json.loads(built.stdout)


def files_of(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


class Links(html.parser.HTMLParser):
    """Collects the files that a page names."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = (value for name, value in attrs if name in ("href", "src") and value)
        self.found += [value.partition("#")[0] for value in named if not re.match("[a-z]+:|#", value)]


def targets(path: Path) -> Iterator[Path]:
    text = path.read_text(encoding="utf-8")
    names = re.findall(r"\]\(([^)]*)\)", text) if path.suffix == ".md" else Links(text).found
    return (path.parent / name for name in names)


def test_it_is_whole_small_and_every_link_leads_to_a_file_of_it() -> None:
    assert broken_sums(EDITION) == []
    files = files_of(EDITION)
    assert len(files) <= MOST_FILES
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES
    for name in ("README.md", "index.html", "forms/brief.html"):
        linked = list(targets(EDITION / name))
        assert linked
        assert [path for path in linked if not path.exists()] == []


def test_its_readme_has_the_answer_the_picture_the_citation_and_every_command(content: Any) -> None:
    text = (EDITION / "README.md").read_text(encoding="utf-8").replace("\\", "")
    for sentence in (content["answer"]["headline"], content["citation"]["line"], *content["redo"]):
        assert sentence in text
    assert "](forms/slide.png)" in text


def test_the_data_of_its_figures_are_those_of_its_report_json() -> None:
    figures = list(read_published(EDITION / "report.json").figures())
    assert figures
    for figure in figures:
        place = EDITION / "forms" / "figures" / f"{figure.id}.csv"
        with place.open(encoding="utf-8", newline="") as file:
            assert file.read() == csv_text(figure.columns, figure.rows)
        if figure.bands:
            with place.with_name(f"{figure.id}-bands.csv").open(encoding="utf-8", newline="") as file:
                assert file.read() == csv_text(band_columns(figure), figure.bands)


def test_its_shares_and_the_checksum_of_its_citation_follow_from_the_recorded_pages_in_an_empty_folder(
    content: Any, rebuilt: tuple[Path, Any]
) -> None:
    again = rebuilt[1]
    assert again["sizes"] == content["sizes"]
    assert again["citation"]["data"] == content["citation"]["data"]
    assert re.search(r"recorded by \w.*sha256:[0-9a-f]{64}", content["citation"]["line"])


def numbers_of(verdict: Any) -> dict[str, Any]:
    """The verdict without its sentences, which later code may word otherwise."""
    return {
        name: value for name, value in verdict.items() if name not in ("headline", "sentences", "reasons")
    }


@pytest.fixture(scope="module")
def again() -> tuple[Any, int]:
    """The verdict by the loads that the edition carries, and the number of these."""
    manifest = manifest_of(EDITION)
    carried = read_carried(EDITION)
    assert carried is not None
    replay, backcast = carried
    standing = finding_of(backcast, manifest["backcast"], of=replay.provenance)
    confirming = [other.replayed for other in replay.confirming]
    verdict = to_data(replay.replayed.verdict(standing, confirming=confirming))
    return json.loads(json.dumps(verdict)), sum(map(len, replay.loads))


def test_its_verdict_follows_from_the_loads_that_it_carries(content: Any, again: tuple[Any, int]) -> None:
    verdict, loads = again
    assert numbers_of(verdict) == numbers_of(content["verdict"])
    assert loads == content["replay"]["loads"] > 1000


def test_the_readme_of_the_repository_begins_with_its_sentences(content: Any, again: tuple[Any, int]) -> None:
    readme = (EDITION.parents[1] / "README.md").read_text(encoding="utf-8")
    _, first, _ = readme.split("\n\n", 2)
    for told in (again[0], content["answer"]):
        sentences = [in_ascii(sentence) for sentence in told["sentences"]]
        assert " ".join(first.split()) == " ".join([f"**2026: {in_ascii(told['headline'])}**", *sentences])


@pytest.mark.parametrize("item", thorough("all"))
def test_every_item_of_it_is_equal_when_it_is_computed_again(
    content: Any, rebuilt: tuple[Path, Any], tmp_path: Path, item: str
) -> None:
    shutil.copytree(rebuilt[0] / "releases", tmp_path / "releases")
    version = f"v{content['publication']['version']}"
    shutil.copytree(EDITION, tmp_path / "reports" / "2026" / version)
    again = run(tmp_path, "report", "recompute", "2026", version, item)
    assert again.exit_code == 0, again.output
    assert all(line.startswith("equal ") for line in again.stdout.splitlines())


def test_its_comparison_over_the_years_is_of_the_sets_that_it_names_whatever_else_is_there(
    rebuilt: tuple[Path, Any], tmp_path: Path
) -> None:
    shutil.copytree(EDITION, tmp_path / "reports" / "2026" / "v1")
    shutil.copytree(rebuilt[0] / "releases", tmp_path / "releases")
    recompute = ("report", "recompute", "2026", "v1", "fig-years")
    assert run(tmp_path, "import", "pages", "phantomjs-2013-09").exit_code == 0
    again = run(tmp_path, *recompute)
    assert (again.exit_code, "\nequal\n" in again.output) == (0, True), again.output
    shutil.rmtree(tmp_path / "releases" / "month=2022-05")
    without = run(tmp_path, *recompute)
    assert (without.exit_code, without.stdout) == (1, "")
    assert "`firstflight import pages mobile-images-2022-05`" in without.stderr


def test_a_draft_of_it_is_short() -> None:
    text = re.sub("<[^>]*>", " ", draft_xml(read_published(EDITION / "report.json")))
    assert len(text.split()) <= MOST_WORDS


def test_an_illustrative_withdrawn_or_missing_report_has_no_edition(
    made_up_report: Path, tmp_path: Path
) -> None:
    def refusal(data_dir: Path, folder: Path) -> str:
        result = run(data_dir, "report", "edition", str(folder), "--year", "2026")
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
        assert not folder.exists() or [*folder.iterdir()] == [folder / "mine"]
        return result.stderr

    place = tmp_path / "edition"
    assert "is illustrative" in refusal(made_up_report, place)
    write_version(tmp_path / "data" / "reports" / "2026", Publication(date="2027-01-15"))
    withdraw(find_version(tmp_path / "data" / "reports", 2026, 1), reason="wrong", date="2027-02-01")
    assert "is withdrawn: wrong" in refusal(tmp_path / "data", place)
    place.mkdir()
    (place / "mine").write_text("")
    assert f"{place} is there, and holds no edition" in refusal(made_up_report, place)


def test_the_next_version_is_built_from_the_loads_that_the_edition_carries(
    content: Any, again: tuple[Any, int], rebuilt: tuple[Path, Any], tmp_path: Path
) -> None:
    shutil.copytree(rebuilt[0] / "releases", tmp_path / "releases")
    before = content["publication"]["version"]
    shutil.copytree(EDITION, tmp_path / "reports" / "2026" / f"v{before}")
    build = ("report", "build", "--year", "2026", "--loads", str(EDITION), "--crawl")
    made = ("--version", str(before + 1), "--reason", "plainer words", "--corrects", "the headline", "--json")
    with undrawn():
        built = run(tmp_path, *build, "2025-08", *made)
        assert built.exit_code == 0, built.output
        report = json.loads(built.stdout)
        assert report["verdict"] == again[0]
        assert report["replay"]["sha256"] == content["replay"]["sha256"]
        other = run(tmp_path, *build, "2020-07", *made)
    assert (other.exit_code, other.stdout) == (1, "")
    assert "choose that release with --crawl" in other.stderr
    version = tmp_path / "reports" / "2026" / f"v{before + 1}"
    carried = [read_carried(folder) for folder in (version, EDITION)]
    assert carried[0] is not None
    assert carried[1] is not None
    assert all(new.equals(old) for new, old in zip(carried[0][0].loads, carried[1][0].loads, strict=True))


def test_what_carries_no_loads_or_is_damaged_is_refused(rebuilt: tuple[Path, Any], tmp_path: Path) -> None:
    def refusal(folder: Path) -> str:
        call = ("report", "build", "--year", "2026", "--crawl", "2025-08", "--loads", str(folder))
        result = run(rebuilt[0], *call)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
        return result.stderr

    assert "is no report" in refusal(tmp_path)
    shutil.copytree(EDITION, tmp_path / "damaged")
    (tmp_path / "damaged" / "loads" / "loads.parquet").write_bytes(b"")
    assert "is damaged (loads/loads.parquet)" in refusal(tmp_path / "damaged")
    assert "carries no loads" in refusal(rebuilt[0] / "reports" / "2026" / "v1")


def test_a_report_that_uncommitted_code_built_has_no_edition(tmp_path: Path) -> None:
    version = tmp_path / "reports" / "2026" / "v1"
    shutil.copytree(EDITION, version)
    facts = manifest_of(version)
    del facts["files"]
    seal(version, facts | {"commit": f"{facts['commit']}-dirty"})
    refused = run(tmp_path, "report", "edition", str(tmp_path / "edition"), "--year", "2026")
    assert (refused.exit_code, refused.stdout, refused.stderr.count("\n")) == (1, "", 1)
    assert "was built by code with changes that are not committed" in refused.stderr


def test_an_edition_says_by_which_commit_each_earlier_version_is_computed_again(tmp_path: Path) -> None:
    reports = tmp_path / "reports" / "2026"
    for number in (1, 2):
        shutil.copytree(EDITION, reports / f"v{number}")
        facts = manifest_of(reports / f"v{number}")
        del facts["files"]
        seal(reports / f"v{number}", facts | {"commit": f"{number}abc"})
    written = run(tmp_path, "report", "edition", str(tmp_path / "editions" / "2026"), "--year", "2026")
    assert written.exit_code == 0, written.output
    text = (tmp_path / "editions" / "2026" / "README.md").read_text(encoding="utf-8")
    assert "Version 1 and the code that computes it again are in the history: `git checkout 1abc`." in text
    assert "2abc" not in text
