"""A data folder with what commands make of one crawl, and a database, of which each test has a copy."""

import dataclasses
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from sqlalchemy import Engine

from releases.build import build
from releases.catalogue import Release, releases
from storage.partitions import seal_partitions
from storage.staging import PREFIX
from tests.api.lab.conftest import har
from tests.conftest import new_database
from tests.factories import made_up_report, stored_crawl
from tests.factories.made_up_crawl import NAME
from tests.factories.withdrawn import texts
from tests.kills.commands import Commands

CRAWL = str(NAME)
ERASED = "page03.test"

LIST, HAR = "sites.txt", "page.har"
"""Names of a list of sites and of a HAR file, beside the data folder."""

COMMANDS = {
    "plan": f"crawl plan --crawl 2027-01 --set kind=localweb --set list={{folder}}/{LIST}",
    "build": f"release build --crawl {CRAWL} --version 2 --reason again",
    "publish": f"release publish --crawl {CRAWL}",
    "report": "report build --year 2026",
    "replay": "replay run demo --guests 1 --set pages=2026-11 --set candidates=10,16 "
    "--set networks=wpt-cable --set seeds=2",
    "erase": f"optout add {ERASED} --erase",
    "import": f"import har --id pages {{folder}}/{HAR}",
    "list": f"list fetch {{folder}}/{LIST}",
    "backup": "database backup",
    "verify": "verify",
}
"""Commands over a data folder, by the names that tests give them."""

SMALL_PARTS = "from replay.runs import parts; parts.PART_S = 0.01"
"""Statement by which a replay of few pages has as many parts as a long one."""


def named(name: str, *others: object, is_sample: bool) -> ParameterSet:
    """Return a parameter of a test that runs a command, marked by what it needs; `scripts/test` runs samples
    alone."""
    marks = [pytest.mark.lab] * ("replay" in (name, *others)) + [pytest.mark.thorough] * (not is_sample)
    return pytest.param(name, *others, marks=marks)


@dataclasses.dataclass(frozen=True)
class World:
    """A data folder and a database."""

    data: Path
    database_url: str

    @property
    def store(self) -> Path:
        return self.data.parent / "store"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "FIRSTFLIGHT_DATA_DIR": str(self.data),
            "FIRSTFLIGHT_DATABASE_URL": self.database_url,
            "FIRSTFLIGHT_PUBLISH_URL": self.store.as_uri(),
        }

    def arguments(self, name: str) -> list[str]:
        return COMMANDS[name].format(folder=self.data.parent).split()

    def list_releases(self) -> list[Release]:
        return list(releases(self.data / "releases"))

    def list_left(self) -> list[Path]:
        """Stages that no command has cleaned up."""
        return list(self.data.rglob(f"{PREFIX}*"))

    def read_files(self) -> dict[str, bytes]:
        """The files of releases, replays and reports, by their paths; without stages, which are none yet."""
        folders = (self.data / name for name in ("releases", "replays", "reports"))
        files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in files if f"/{PREFIX}" not in str(path)}

    def find_erased(self) -> list[str]:
        """The files of the data folder and of the store that hold the name of the erased host."""
        files = [path for folder in (self.data, self.store) for path in folder.rglob("*") if path.is_file()]
        sought = ERASED.encode()
        return [
            str(path)
            for path in files
            if f"/{PREFIX}" not in str(path) and any(sought in text for text in texts(path))
        ]


def verify(firstflight: Commands, world: World) -> None:
    verified = firstflight.run(["verify"], world.environment)
    assert verified.code == 0, verified.output


def fill(engine: Engine, data: Path) -> None:
    """Fill a database with a sealed crawl, and a data folder with its release and its replay."""
    made_up = made_up_report.crawl()
    stored_crawl.store(engine, made_up)
    with engine.begin() as connection:
        seal_partitions(connection, made_up.crawl_id)
    release = build(engine, CRAWL, data / "releases").release
    made_up_report.write_replay(data, release)


@contextmanager
def copy_world(world: World, server: str, folder: Path) -> Iterator[World]:
    name = world.database_url.partition("?")[0].rpartition("/")[2]
    with new_database(server, name) as url:
        data = shutil.copytree(world.data, folder / "data")
        (folder / LIST).write_text("a.test\nb.test\n")
        (folder / HAR).write_bytes(har())
        yield World(data, url)
    shutil.rmtree(folder)
