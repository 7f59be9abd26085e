"""`firstflight population` as an operator runs it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from firstflight.commands.report.ready import check_population
from firstflight.main import main
from firstflight.settings import from_environment
from firstflight.verification import list_verifications
from replay.networks.stored_populations import find_population
from storage.year import NotReady

MONTHS = Path(__file__).parents[2] / "replay/networks/mlab"
DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTFLIGHT_DATA_DIR", str(tmp_path))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_a_country_is_fetched_listed_and_drawn(tmp_path: Path) -> None:
    fetched = run("population", "fetch", "mlab", "--month", "2025-10", "--country", "DE")
    assert fetched.exit_code == 0, fetched.output
    assert [row.split(":")[0] for row in fetched.output.splitlines()] == [
        "mlab-2025-10-de",
        "mlab-2025-10-de-crux",
    ]
    populations = json.loads(run("population", "list", "--json").output)
    assert [population["id"] for population in populations] == [
        "mlab-2025-10",
        "mlab-2025-10-crux",
        "mlab-2025-10-de",
        "mlab-2025-10-de-crux",
        "mlab-2025-10-r00",
        "mlab-2025-10-r60",
        "mlab-2025-10-slow20",
        "mlab-2025-10-users",
    ]
    picture = tmp_path / "de.svg"
    assert run("population", "draw", "mlab-2025-10-de", "--output", str(picture)).exit_code == 0
    assert picture.read_text(encoding="utf-8").startswith("<svg")


def test_each_country_is_fetched_from_a_folder(tmp_path: Path) -> None:
    content = (MONTHS / "downloads_2024-10.parquet").read_bytes()
    (tmp_path / "202410_downloads_by_country.parquet").write_bytes(content)
    done = run(
        "population",
        "fetch",
        "mlab",
        "--month",
        "2024-10",
        "--country",
        "FJ",
        "--rho",
        "-0.6",
        "--from",
        str(tmp_path),
    )
    assert done.exit_code == 0, done.output
    assert (tmp_path / "populations" / "mlab-2024-10-fj-r60.csv").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--month", "2031-01"), "manifest has no file of 2031-01"),
        (("--month", "2025-10", "--country", "QQ"), "no country 'QQ'"),
        (("--month", "1999-10"), "no file of 1999-10, but those of 2009-01 to 2026-01"),
        (("--month", "2024-10", "--from", "nowhere"), "nowhere has neither"),
        (("--month", "2025-10", "--country", "DE", "--per-country"), "leave --country out"),
        (("--month", "2025-10", "--country", "DE", "--rho", "2"), "2.0 is not in the range -0.9<=x<=0.9"),
        (("--month", "2025-10", "--country", "DE", "--rho", "nan"), "rho must be a correlation such as -0.3"),
        (("--month", "2025-10", "--users", __file__), "go together"),
        (
            ("--month", "2025-10", "--users", __file__, "--users-source", "x", "--country", "DE"),
            "weights the world",
        ),
    ],
)
def test_a_fetch_that_cannot_be_is_one_line(options: tuple[str, ...], message: str) -> None:
    done = run("population", "fetch", "mlab", *options)
    assert done.exit_code != 0
    assert message in done.output
    assert "Traceback" not in done.output


def test_a_damaged_description_is_that_populations_damage_alone() -> None:
    assert run("population", "fetch", "mlab", "--month", "2025-10", "--country", "DE").exit_code == 0
    settings = from_environment()
    description = settings.populations / "mlab-2025-10-de.json"
    description.write_text("{", encoding="utf-8")
    assert len(find_population(settings.populations, "mlab-2025-10-de-crux").profiles) == 64
    (settings.populations / "mlab-2025-10-de-crux.csv").unlink()
    items = {item.name: item for item in (check() for check in list_verifications(settings, None))}
    assert [items[name].state for name in sorted(items)] == ["damaged", "damaged"]
    assert "remove it and mlab-2025-10-de.csv, and make the population again" in items["mlab-2025-10-de"].said
    assert "mlab-2025-10-de-crux.csv is missing: remove" in items["mlab-2025-10-de-crux"].said


def test_a_stale_population_is_not_ready() -> None:
    settings = from_environment()
    check_population(settings, "mlab-2025-10", "2027-10")
    with pytest.raises(NotReady, match="measured in 2025-10, which is more than 24 months before 2027-11"):
        check_population(settings, "mlab-2025-10", "2027-11")
    with pytest.raises(NotReady, match="2024-12"):
        check_population(settings, "mlab-2025-10-crux", "2027-01")
