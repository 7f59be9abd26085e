"""Real PostgreSQL for every test that asks: the embedded 18, and Debian's 15, a fresh database each."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import gc
import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import hypothesis
import pytest
from sqlalchemy import Connection, Engine, create_engine, make_url, text

from storage import embedded, migrate
from storage.engine import connect

if TYPE_CHECKING:
    from playwright.sync_api import Browser

DEBIAN_PROGRAMS = Path("/usr/lib/postgresql/15/bin")
COUNTER = itertools.count()
T = TypeVar("T")
COSTLY = ["service", "process", "database", "browser", "lab", "slow"]
"""Markers of tests that cost seconds, cheapest first."""

SLOW_BEGIN_BY = 0.7
"""Share of the files that are not fast before which every slow one has begun,
so that none is left alone at the end."""

OBJECTS_BETWEEN_COLLECTIONS = 10_000
"""New objects after which Python looks for garbage among them; usually 700."""

# An example that a busy machine holds up is no failure.
hypothesis.settings.register_profile("firstflight", deadline=None)
hypothesis.settings.load_profile("firstflight")

BY_FIXTURE = {
    **dict.fromkeys(("embedded_server", "debian_server", "empty_database", "database"), "database"),
    "recorded_releases": "process",
}
"""Markers of tests that need a fixture, one that starts PostgreSQL or builds whole releases."""

BY_IMPORT = {"TestClient": "service", "serving": "service", "subprocess": "process"}
"""Markers of tests whose module imports a name."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep Python from looking for garbage among all modules and tests,
    and look less often at what tests leave.

    Garbage collection took a fifth of the time of many files.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)


def pytest_configure(config: pytest.Config) -> None:
    """End a worker of several at once, after all that is to be done at its end: DuckDB would list, below the
    summary, what is left in its memory, and nobody asks for its exit status."""
    if hasattr(config, "workerinput"):
        atexit.register(os._exit, 0)


def pytest_unconfigure() -> None:
    """Let Python collect the modules' objects when it ends; DuckDB lists as leaked what stays frozen."""
    gc.unfreeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Fast files first: a mistake shows within seconds.

    Then the slow ones, which mostly wait, evenly among the others, whose dearest come first:
    what is left for the end is short, so that all processes end at about the same time.
    A file's tests stay together, for their fixtures.
    """
    cost: dict[Path, int] = {}
    for item in items:
        needed, imported = getattr(item, "fixturenames", ()), vars(getattr(item, "module", object))
        for marker in {BY_FIXTURE[name] for name in needed if name in BY_FIXTURE}:
            item.add_marker(marker)
        for marker in {BY_IMPORT[name] for name in BY_IMPORT if name in imported}:
            item.add_marker(marker)
        marked = [COSTLY.index(name) + 1 for name in COSTLY if item.get_closest_marker(name)]
        cost[item.path] = max([*marked, cost.get(item.path, 0)])
    place = {path: place for place, path in enumerate(in_order(cost))}
    items.sort(key=lambda item: place[item.path])


def in_order(cost: Mapping[T, int]) -> list[T]:
    """Return the fast files, then the others from the dearest on, with the slow ones
    spread over the first part of them."""
    fast = [path for path in cost if not cost[path]]
    slow = [path for path in cost if cost[path] == len(COSTLY)]
    others = sorted((path for path in cost if 0 < cost[path] < len(COSTLY)), key=lambda path: -cost[path])
    place = {path: SLOW_BEGIN_BY * number / len(slow) for number, path in enumerate(slow)}
    place |= {path: number / len(others) for number, path in enumerate(others)}
    return [*fast, *sorted(place, key=lambda path: place[path])]


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what is built once for all processes of the tests, and which no test changes."""
    # Where the tests run in several processes, each has a folder of its own in one for all.
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def built_once(folder: Path, build: Callable[[Path], object]) -> Path:
    """Have `build` fill a folder, unless another process has."""
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            stage = folder.with_suffix(".stage")
            build(stage)
            stage.rename(folder)
    return folder


@pytest.fixture(scope="session")
def made_up_report(shared_folder: Path) -> Path:
    """A data folder with the first report of made-up pages."""

    def build(stage: Path) -> None:
        # Few tests need it, and it takes seconds.
        from tests.factories.made_up_report import build_report, data_folder, read_data_folder

        data_folder(stage)
        build_report(read_data_folder(stage), stage / "reports" / "2026" / "v1")

    return built_once(shared_folder / "made-up-report", build)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser of the settings, for all tests of a module."""
    # Few tests need it.
    from benchmarks.pages.browser import launch_browser

    with launch_browser() as browser:
        yield browser


@pytest.fixture(scope="session")
def recorded_releases(shared_folder: Path) -> Callable[[str], Path]:
    """A function that returns the folder of releases with that of a recorded set, by the set's name."""
    from recordings.pages.sets import SETS, read_set
    from releases.imported import write_imported

    def build(name: str, stage: Path) -> None:
        content = read_set(SETS[name])
        write_imported(
            content.tables, content.recording, stage, checksum=content.checksum, notes=content.notes
        )

    return lambda name: built_once(shared_folder / f"recorded-{name}", functools.partial(build, name))


@pytest.fixture(scope="session")
def server_folder() -> Iterator[Path]:
    """A folder that the servers' own user may enter, with a path short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="ff-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def embedded_server(server_folder: Path) -> Iterator[str]:
    data = server_folder / "postgres"
    yield embedded.start(data)
    embedded.stop(data)


@pytest.fixture(scope="session")
def debian_server(server_folder: Path) -> Iterator[str]:
    """URL of a server from Debian's PostgreSQL 15 package."""
    if not (DEBIAN_PROGRAMS / "initdb").exists():
        pytest.fail("the Debian package postgresql-15 is missing: apt-get install postgresql-15")
    data = server_folder / "debian"
    data.mkdir(mode=0o700)
    as_user: dict[str, Any] = {}
    if os.geteuid() == 0:  # PostgreSQL refuses root
        account = pwd.getpwnam("nobody")
        os.chown(data, account.pw_uid, account.pw_gid)
        as_user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}

    def program(name: str, *arguments: str) -> None:
        with (server_folder / f"{name}.log").open("w") as output:
            call: list[str | Path] = [DEBIAN_PROGRAMS / name, "-D", data, *arguments]
            subprocess.run(call, cwd=data, stdout=output, stderr=output, check=True, **as_user)

    program(
        "initdb", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"
    )
    options = f"-c listen_addresses='' -c unix_socket_directories='{data}' -c fsync=off"
    program("pg_ctl", "-w", "-l", str(data / "log"), "-o", options, "start")
    yield f"postgresql://postgres@/postgres?host={data}"
    program("pg_ctl", "-m", "immediate", "-w", "stop")


@pytest.fixture(params=["embedded_server", "debian_server"], ids=["embedded-18", "debian-15"])
def empty_database(request: pytest.FixtureRequest) -> Iterator[str]:
    """URL of a database without any table, on each PostgreSQL in turn."""
    with new_database(request.getfixturevalue(request.param)) as url:
        yield url


@pytest.fixture(
    params=["embedded_server", pytest.param("debian_server", marks=pytest.mark.thorough)],
    ids=["embedded-18", "debian-15"],
)
def database(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """A database with our tables; `scripts/test --all` takes each PostgreSQL."""
    server: str = request.getfixturevalue(request.param)
    with with_tables(server) as engine:
        yield engine


@pytest.fixture
def database_18(embedded_server: str) -> Iterator[Engine]:
    """The same on the embedded PostgreSQL alone: for tests whose subject is not SQL."""
    with with_tables(embedded_server) as engine:
        yield engine


@contextlib.contextmanager
def administrator(server: str) -> Iterator[Connection]:
    engine = create_engine(make_url(server), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


@contextlib.contextmanager
def new_database(server: str, template: str = "template1") -> Iterator[str]:
    name = f"test_{next(COUNTER)}"
    with administrator(server) as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
        yield make_url(server).set(database=name).render_as_string(hide_password=False)
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))


@contextlib.contextmanager
def with_tables(server: str) -> Iterator[Engine]:
    with new_database(server, upgraded(server)) as url:
        engine = connect(url)
        yield engine
        engine.dispose()


@functools.cache
def upgraded(server: str) -> str:
    """The name of a database with our tables, which others are copied from."""
    name = "upgraded"
    with administrator(server) as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine = connect(make_url(server).set(database=name).render_as_string(hide_password=False))
    migrate.upgrade(engine)
    engine.dispose()
    return name
