"""Wrong input by an operator gives one line and a non-zero exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import text

from firstflight.main import main
from tests.factories.list_server import list_server

if TYPE_CHECKING:
    from sqlalchemy import Engine

    Run = Callable[..., Result]


@pytest.fixture
def sites(tmp_path: Path) -> Path:
    file = tmp_path / "sites.txt"
    file.write_text("a.test\nb.test\nc.test\n")
    return file


@pytest.fixture
def run(tmp_path: Path, database_18: Engine) -> Run:
    url = database_18.url.set(drivername="postgresql").render_as_string(hide_password=False)

    def firstflight(*arguments: str | Path, **environment: str) -> Result:
        given = {
            "FIRSTFLIGHT_DATA_DIR": str(tmp_path / "data"),
            "FIRSTFLIGHT_CACHE_DIR": str(tmp_path / "cache"),
            "FIRSTFLIGHT_DATABASE_URL": url,
            **environment,
        }
        return CliRunner().invoke(main, [str(argument) for argument in arguments], env=given)

    return firstflight


def settings(*values: str) -> list[str]:
    return [word for value in values for word in ("--set", value)]


def planned(run: Run, sites: Path, *more: str, options: tuple[str, ...] = ()) -> Result:
    return run("crawl", "plan", "--crawl", "2026-11", *settings(f"list={sites}", *more), *options)


def facts(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    printed: dict[str, Any] = json.loads(result.stdout)
    return printed


def failed(result: Result) -> str:
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line


def test_a_list_is_fetched_planned_and_counted(run: Run, sites: Path) -> None:
    fetched = facts(run("list", "fetch", sites, "--json"))
    assert (fetched["entries"], fetched["first"], fetched["last"]) == (3, "a.test", "c.test")
    plan = facts(planned(run, sites, "top=2", options=("--json",)))
    assert plan == {
        "crawl": "2026-11.desktop.local.tcp.web",
        "new": True,
        "sites": 2,
        "list": fetched["id"],
        "checksum": fetched["checksum"],
        "old_list_month": None,
    }
    counted = facts(run("crawl", "status", "--crawl", "2026-11", "--json"))
    assert (counted["planned"], counted["final"], counted["coverage_min"]) == (2, 0, None)
    (listed,) = facts(run("crawl", "list", "--json"))["crawls"]
    assert (listed["crawl"], listed["sealed_at"]) == ("2026-11.desktop.local.tcp.web", None)


def test_the_same_plan_again_says_so_and_another_is_an_error(run: Run, sites: Path) -> None:
    planned(run, sites)
    again = planned(run, sites)
    assert again.exit_code == 0
    assert "exists already" in again.stdout
    assert "with attempts 2, not 3" in failed(planned(run, sites, "attempts=3"))


def test_the_newest_list_is_fetched_once_a_month_and_else_the_last_is_planned_with_a_warning(
    run: Run, tmp_path: Path, database_18: Engine
) -> None:
    def plan(month: str, *more: str, mirror: str) -> Result:
        named = ("crawl", "plan", "--crawl", month, *settings("list=tranco", "top=2", *more), "--json")
        return run(*named, FIRSTFLIGHT_LIST_MIRROR=mirror)

    nowhere = "http://127.0.0.1:9"
    line = failed(plan("2026-10", mirror=nowhere))
    assert "cannot be fetched" in line
    assert "no list of tranco was fetched before" in line
    with list_server(["a.test", "b.test"]) as server:
        desktop = facts(plan("2026-10", mirror=server.url))
        assert (desktop["list"], desktop["sites"]) == ("tranco:K2LPW-top2", 2)
        server.tranco_id = "NEWER"
        mobile = facts(plan("2026-10", "device=mobile", mirror=server.url))
        assert (mobile["list"], mobile["checksum"]) == (desktop["list"], desktop["checksum"])
        assert facts(plan("2026-10", mirror=server.url))["new"] is False
        assert facts(plan("2026-11", mirror=server.url))["list"] == "tranco:NEWER-top2"
    (tmp_path / "data/lists/tranco/NEWER-top2.csv").unlink()
    with database_18.begin() as connection:
        connection.execute(text("UPDATE site_list SET fetched_at = '2026-01-31T23:00Z'"))
    stale = plan("2026-12", mirror=nowhere)
    planned = facts(stale)
    assert (planned["list"], planned["old_list_month"]) == ("tranco:K2LPW-top2", "2026-01")
    first, second = stale.stderr.splitlines()
    assert "planned is tranco:K2LPW-top2, which was fetched last" in first
    assert second == "warning: the list tranco:K2LPW-top2 is of 2026-01"
    shown = run("crawl", "status", "--crawl", "2026-12").stdout
    assert "list       warning: of 2026-01, before the month of the plan" in shown


def test_device_user_agent_and_contact_are_planned_and_the_contact_has_a_setting(
    run: Run, sites: Path, database_18: Engine
) -> None:
    own = (
        "loads=3",
        "inner_pages=1",
        "device=mobile",
        "user_agent=Ours/1.0",
        "contact_url=https://a.test/why",
    )
    assert facts(planned(run, sites, *own, options=("--json",)))["crawl"] == "2026-11.mobile.local.tcp.web"
    setting = {"FIRSTFLIGHT_CONTACT_URL": "https://b.test/"}
    assert run("crawl", "plan", "--crawl", "2026-12", "--set", f"list={sites}", **setting).exit_code == 0
    columns = "loads, inner_pages, device, user_agent_planned, contact_url, user_agent"
    with database_18.connect() as connection:
        rows = connection.execute(text(f"SELECT {columns} FROM crawl ORDER BY id")).all()
    assert [tuple(row) for row in rows] == [
        (3, 1, "mobile", "Ours/1.0", "https://a.test/why", None),
        (1, 0, "desktop", None, "https://b.test/", None),
    ]
    wrong = run(
        "crawl", "plan", "--crawl", "2027-01", "--set", f"list={sites}", FIRSTFLIGHT_CONTACT_URL="me@b.test"
    )
    assert "'me@b.test' cannot stand in a User-Agent" in failed(wrong)


def test_a_crawl_of_another_method_is_not_gone_on_with(run: Run, sites: Path, database_18: Engine) -> None:
    planned(run, sites)
    with database_18.begin() as connection:
        connection.execute(text("UPDATE crawl SET method_version = '1', commit = 'abc123'"))
    assert "run it with the code of abc123" in failed(run("crawl", "run", "--crawl", "2026-11"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("a.test\nhttp://b.test/\n", "line 2 of the list sites.txt is no host: 'http://b.test/'"),
    ],
)
def test_a_list_that_is_none_is_one_line(run: Run, sites: Path, content: str, message: str) -> None:
    sites.write_text(content)
    assert message in failed(run("list", "fetch", sites))
    assert message in failed(planned(run, sites))


def test_a_list_that_is_missing_is_one_line(run: Run, tmp_path: Path) -> None:
    assert "cannot be read: No such file" in failed(run("list", "fetch", tmp_path / "none"))


@pytest.mark.parametrize("action", ["run", "status", "seal"])
def test_an_unknown_crawl_is_one_line(run: Run, action: str) -> None:
    assert "there is no crawl '2031-01'" in failed(run("crawl", action, "--crawl", "2031-01"))


@pytest.mark.parametrize(
    "wrong",
    [
        "vantage=../up",
        "top=0",
        "budget_s=0",
        "budget_s=nan",
        "attempts=10",
        "kind=other",
        "device=fridge",
        "loads=0",
        "inner_pages=-1",
        "user_agent=a\r\nX: y",
        "gate.visited=1.1",
        "gate.visited=nan",
        "gate.vistied=1",
        "tops=3",
        "top",
    ],
)
def test_a_value_out_of_its_range_or_of_no_field_is_one_line_that_names_it(
    run: Run, sites: Path, wrong: str
) -> None:
    line = failed(planned(run, sites, wrong))
    assert wrong.partition("=")[0].rpartition(".")[2] in line


@pytest.mark.parametrize("month", ["2026-13", "November"])
def test_what_is_no_month_is_a_usage_error(run: Run, sites: Path, month: str) -> None:
    assert run("crawl", "plan", "--crawl", month, "--set", f"list={sites}").exit_code == 2


def test_one_file_describes_the_plan_the_run_and_the_gate_and_settings_stand_above_it(
    run: Run, sites: Path, tmp_path: Path
) -> None:
    file = tmp_path / "crawl.toml"
    file.write_text(f'list = "{sites}"\ntop = 2\nkind = "localweb"\n[gate]\nvisited = 0\n')
    plan = facts(run("crawl", "plan", file, "--crawl", "2026-11", "--set", "top=1", "--json"))
    assert (plan["crawl"], plan["sites"]) == ("2026-11.desktop.local.tcp.localweb", 1)
    assert "name its FILE by --set local_web=FILE" in failed(run("crawl", "run", file, "--crawl", "2026-11"))
    of_all = run("crawl", "gate", "--crawl", "2026-11")
    assert "0 % of the sites have a final visit, and 100 % must" in of_all.stderr
    by_file = run("crawl", "gate", file, "--crawl", "2026-11")
    assert "sites have a final visit" not in by_file.stderr
    file.write_text("list = ")
    assert "crawl.toml" in failed(run("crawl", "plan", file, "--crawl", "2026-11"))
    assert "nowhere.toml" in failed(run("crawl", "plan", tmp_path / "nowhere.toml", "--crawl", "2026-11"))
    schema = json.loads(run("crawl", "plan", "--schema").stdout)
    assert "gate" in json.dumps(schema)


@pytest.mark.parametrize("arguments", [("list",), ("status", "--crawl", "2026-11")])
def test_an_unreachable_database_is_one_line(run: Run, arguments: tuple[str, ...]) -> None:
    result = run("crawl", *arguments, FIRSTFLIGHT_DATABASE_URL="postgresql://u:secret@127.0.0.1:1/none")
    line = failed(result)
    assert "PostgreSQL cannot be used at postgresql://u:***@127.0.0.1:1/none" in line


def test_a_missing_browser_names_its_package_and_holds_no_claim(
    run: Run, sites: Path, database_18: Engine
) -> None:
    planned(run, sites)
    result = run("crawl", "run", "--crawl", "2026-11", FIRSTFLIGHT_CHROMIUM="/nowhere/chromium")
    assert "chromium-headless-shell" in failed(result)
    with database_18.connect() as connection:
        assert connection.scalar(text("SELECT sum(attempts) + count(owner) FROM site")) == 0


def test_a_local_web_and_a_crawl_of_the_live_web_do_not_mix(run: Run, sites: Path, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text('{"browser_flags": []}')
    planned(run, sites)
    mixed = run("crawl", "run", "--crawl", "2026-11", "--set", f"local_web={state}")
    assert "local_web is for crawls of kind localweb" in failed(mixed)
    planned(run, sites, "kind=localweb")
    name = "2026-11.desktop.local.tcp.localweb"
    assert "name its FILE by --set local_web=FILE" in failed(run("crawl", "run", "--crawl", name))


@pytest.mark.parametrize("content", [None, "not json", "[]", '{"sites": []}', '{"browser_flags": 3}'])
def test_a_state_of_no_local_web_is_one_line(
    run: Run, sites: Path, tmp_path: Path, content: str | None
) -> None:
    state = tmp_path / "state.json"
    if content is not None:
        state.write_text(content)
    planned(run, sites, "kind=localweb")
    assert "state" in failed(run("crawl", "run", "--crawl", "2026-11", "--set", f"local_web={state}"))


def test_an_open_crawl_is_not_sealed_and_a_sealed_one_not_run(
    run: Run, sites: Path, database_18: Engine
) -> None:
    planned(run, sites)
    assert "3 of 3 sites have no final visit yet" in failed(run("crawl", "seal", "--crawl", "2026-11"))
    with database_18.begin() as connection:
        connection.execute(text("UPDATE site SET final_visit_id = rank * 1000 + 1"))
    assert facts(run("crawl", "seal", "--crawl", "2026-11", "--json"))["new"] is True
    assert facts(run("crawl", "seal", "--crawl", "2026-11", "--json"))["new"] is False
    assert "is sealed" in failed(run("crawl", "run", "--crawl", "2026-11"))


def test_a_sealed_crawl_counts_as_done_for_a_run_until_empty(
    run: Run, sites: Path, database_18: Engine, tmp_path: Path
) -> None:
    planned(run, sites)
    with database_18.begin() as connection:
        connection.execute(text("UPDATE site SET final_visit_id = rank * 1000 + 1"))
    assert facts(run("crawl", "seal", "--crawl", "2026-11", "--json"))["new"] is True
    progress = {path: path.read_bytes() for path in tmp_path.rglob("progress/*")}
    ran = facts(run("crawl", "run", "--crawl", "2026-11", "--until-empty", "--json"))
    assert (ran["ended"], ran["visits"]) == ("queue empty", 0)
    assert {path: path.read_bytes() for path in tmp_path.rglob("progress/*")} == progress
