"""Whatever is damaged, everything else is still checked."""

import dataclasses
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from firstflight.main import main
from firstflight.settings import Settings, from_environment
from firstflight.verification import Item, list_verifications
from releases.errata import record
from replay.networks.stored_populations import BUNDLED, new_population, store
from storage.report_versions import find_version, withdraw
from storage.sums import MANIFEST, SIGNATURE, SUMS, seal
from tests.circles import ALL
from tests.factories.made_up_crawl import NAME
from tests.factories.made_up_report import FEW_CELLS, crawl, stage_of, write_replay, write_whole_release
from tests.factories.signing import make_signer

pytestmark = pytest.mark.process

FOLDERS = {
    "release": NAME.path(Path("releases"), version=1),
    "stage": stage_of(Path()),
    "part": stage_of(Path()).with_name("stage-02.parts") / "1-of-1",
    "report": Path("reports/2026/v1"),
    "withdrawal": Path("reports/2026/v1-withdrawn"),
    "erratum": Path("releases/errata/1"),
    "population": Path("populations"),
}

OWN = (MANIFEST, SUMS)


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with one of everything, of which the stage is signed."""
    data = tmp_path_factory.mktemp("data")
    release = write_whole_release(data, crawl())
    stage = write_replay(data, release, FEW_CELLS)
    shutil.copytree(stage, data / FOLDERS["part"])
    signer = make_signer(tmp_path_factory.mktemp("signer"))
    signer.sign(stage)
    signer.allowed_signers.rename(data / "allowed_signers")
    report = data / FOLDERS["report"]
    (report / "figures").mkdir(parents=True)
    (report / "index.html").write_text("<p>")
    (report / "figures" / "gains.svg").write_text("<svg/>")
    seal(report, {"kind": "report", "year": 2026, "version": 1})
    withdraw(find_version(data / "reports", 2026, 1), reason="a wrong kernel", date="2026-12-01")
    record(data / "releases", ["2026-11"], wrong="sizes", advice="use another", date="2026-12-01")
    content = (BUNDLED / "mlab-2025-10.csv").read_text()
    facts = {"id": "own", "measured": "2025-10", "source": "tests", "parameters": {}, "percentiles": {}}
    store(data / "populations", new_population(content, **facts))
    return data


@pytest.fixture
def data(pristine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = shutil.copytree(pristine, tmp_path / "data", symlinks=True)
    monkeypatch.setenv("FIRSTFLIGHT_DATA_DIR", str(folder))
    return folder


def settings_of(data: Path) -> Settings:
    return dataclasses.replace(from_environment(), data_dir=data)


def flip(path: Path, content: bytes) -> None:
    middle = len(content) // 2
    path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])


FEW_DAMAGES: dict[str, Callable[[Path, bytes], object]] = {
    "removed": lambda _path, _content: None,
    "flipped": flip,
}
DAMAGES = FEW_DAMAGES | {
    "empty": lambda path, _: path.touch(),
    "torn": lambda path, content: path.write_bytes(content[: len(content) // 2]),
    "a folder": lambda path, _: path.mkdir(),
    "a link to nowhere": lambda path, _: path.symlink_to("/nowhere"),
    "a link to itself": lambda path, _: path.symlink_to(path.name),
    "another JSON": lambda path, _: path.write_text("[]"),
    "JSON of other types": lambda path, _: path.write_text('{"files": {"a": 1}, "releases": [1]}'),
    "JSON without an end": lambda path, _: path.write_text("[" * 100_000),
    "no UTF-8": lambda path, _: path.write_bytes(b"\xff" * 50),
}


def damaged_in_turn(folder: Path, kind: str) -> Sequence[tuple[Path, str]]:
    """Files and their damages, of which most of a release, whose check takes a second, have few, and but in
    `scripts/test --all` one.

    A folder without its signature is unsigned, which is no damage.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [
        (path, damage)
        for place, path in enumerate(files)
        for damage in damages_of(path, kind, place)
        if (path.name, damage) != (SIGNATURE, "removed")
    ]


def damages_of(path: Path, kind: str, place: int) -> Sequence[str]:
    if kind != "release" or path.name == MANIFEST or (ALL and path.name in OWN):
        return [*DAMAGES]
    return [*FEW_DAMAGES] if ALL else [[*FEW_DAMAGES][place % len(FEW_DAMAGES)]]


def verdicts(data: Path, kind: str) -> list[Item]:
    """The verdict on everything, but on a release only where it may be damaged, since that check takes a
    second."""
    every = list_verifications(settings_of(data), None)
    assert [check.kind for check in every] == list(FOLDERS)
    return [check() for check in every if kind == "release" or check.kind != "release"]


@pytest.mark.parametrize("kind", FOLDERS)
def test_damage_to_any_file_is_found_and_keeps_nothing_else_from_being_checked(data: Path, kind: str) -> None:
    folder = data / FOLDERS[kind]
    assert {item.state for item in verdicts(data, kind)} == {"ok"}
    for path, damage in damaged_in_turn(folder, kind):
        content = path.read_bytes()
        path.unlink()
        DAMAGES[damage](path, content)
        damaged = [(item.kind, item.said) for item in verdicts(data, kind) if item.state == "damaged"]
        assert [damaged_kind for damaged_kind, _ in damaged] == [kind], (path, damage, damaged)
        assert damaged[0][1].isprintable()
        if kind != "population" and path.name not in (*OWN, SIGNATURE):
            assert str(path.relative_to(folder)) in damaged[0][1]
        if path.is_dir():
            path.rmdir()
        path.unlink(missing_ok=True)
        path.write_bytes(content)


def test_everything_damaged_at_once_is_a_line_each_and_stays_json(data: Path) -> None:
    for path in data.rglob(SUMS):
        path.unlink()
    (data / "populations" / "own.json").unlink()
    (data / FOLDERS["report"] / "odd\nname\udcff").touch()
    done = CliRunner().invoke(main, ["verify", "--offline"])
    assert (done.exit_code, done.stderr) == (1, "")
    *lines, last = done.stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [["DAMAGED", kind] for kind in FOLDERS]
    assert last == "7 checked, 7 damaged"
    as_json = CliRunner().invoke(main, ["verify", "--offline", "--json"])
    assert (as_json.exit_code, as_json.stderr) == (1, "")
    items = json.loads(as_json.stdout)["items"]
    assert [(item["kind"], item["state"]) for item in items] == [(kind, "damaged") for kind in FOLDERS]


@pytest.mark.parametrize("place", ["releases", "replays", "reports", "populations"])
def test_a_disk_that_is_not_there_is_damage(data: Path, place: str) -> None:
    shutil.rmtree(data / place)
    (data / place).symlink_to("/nowhere")
    done = CliRunner().invoke(main, ["verify", "--offline"])
    assert done.exit_code == 1
    assert f"{data / place}: cannot be read (NotADirectoryError: {data / place} is no folder)" in done.stdout
    kinds = {line.split()[1] for line in done.stdout.splitlines()[:-1]}
    assert kinds >= {kind for kind, folder in FOLDERS.items() if folder.parts[0] != place}
