"""The bench of growth: its made-up sites, exponents, extrapolation, and the costs that it writes."""

import copy
from typing import Any

import pytest

from benchmarks.scale.figures import MARKS, find_misses, section, write_costs
from benchmarks.scale.run import add_up
from benchmarks.scale.web import Web

SIZES = {10_000: 1.0, 100_000: 10.0}


@pytest.fixture(scope="module")
def web() -> Web:
    return Web.read()


def facts(*, build_power: float = 1.0, peak_mb: float = 900.0) -> dict[str, Any]:
    """Facts of two sizes whose steps all take a time in proportion, but for the build."""

    def size(times: float) -> dict[str, Any]:
        step = {"cpu_s": 10 * times, "database_s": times, "peak_mb": peak_mb, "wall_s": 1.0}
        visits = 12_000 * int(times)
        crawl = {"claims": visits, "claim_s": times, "claim_database_s": times, "claim_wall_s": times}
        crawl |= {"visits": visits, "write_s": 30 * times, "write_database_s": 30 * times}
        rows = {"site": 10_000 * int(times), "visit": visits, "response": 1_000_000 * int(times)}
        build: dict[str, Any] = {"rows": rows, "bytes": 10**8 * times, "database_bytes": 3 * 10**8 * times}
        steps: dict[str, dict[str, Any]] = {
            name: dict(step) for name in ("plan", "gate", "seal", "verify", "publish", "serve")
        }
        steps["serve"] |= {"home_ms": 9.0, "distribution_ms": 9.0, "site_ms": 9.0}
        steps["crawl"] = step | crawl | {"database_s": 31 * times}
        steps["build"] = step | build | {"received_bytes": 10**10 * times}
        steps["build"]["cpu_s"] = 10 * times**build_power
        steps["build"]["database_s"] = 0.0
        steps["bare"] = dict.fromkeys(("copy_in_s", "copy_out_s", "scan_s", "sha256sum_s"), times)
        return steps

    machine = {"measured_at": "2026-11-28", "commit": "c0ffee", "machine": {"cpus": 2}}
    return machine | {"sizes": {str(sites): size(times) for sites, times in SIZES.items()}}


def test_a_step_in_proportion_misses_no_bound_and_a_steeper_one_misses_it() -> None:
    assert find_misses(facts()) == []
    (miss,) = find_misses(facts(build_power=1.1))
    assert "exponent 1.10" in miss
    assert "None is missed." in section(facts())
    assert f"Missed: {miss}." in section(facts(build_power=1.1))


def test_too_much_memory_and_too_long_a_night_are_missed() -> None:
    assert [miss for miss in find_misses(facts(peak_mb=4100.0)) if "4,100 MB" in miss]
    slow = copy.deepcopy(facts())
    for steps in slow["sizes"].values():
        steps["verify"]["cpu_s"] *= 100
    assert [miss for miss in find_misses(slow) if "hours" in miss]


def test_a_million_is_extrapolated_by_the_exponent_and_never_below_proportion() -> None:
    assert "| build the release | 10.0 | 900 | 100.0 | 900 | 10.0 (raw COPY out) | 1.00 | 1,000 |" in section(
        facts()
    )
    assert "| 10.0 | 900 | 50.1 | 900 | 5.0 (raw COPY out) | 0.70 | 501 |" in section(facts(build_power=0.7))


def test_the_costs_of_a_month_replace_those_between_the_marks() -> None:
    performance = "| firstflight, rows in PostgreSQL | 4 | 1,089 (1,066 to 1,113) | 1.5 |\n"
    before = f"# Operations\n\n{MARKS[0]}old\n{MARKS[1]}\nafter\n"
    after = write_costs(before, performance, facts())
    assert "old" not in after
    assert after.startswith("# Operations\n")
    assert after.endswith(f"{MARKS[1]}\nafter\n")
    assert "| 100,000 sites | 16: 27 hours | 36 h |" in after  # 120,000 visits of 1.089 s
    assert "| 3.0 GB | 1.0 GB | 100.0 GB |" in after
    assert write_costs(after, performance, facts()) == after


def test_costs_stay_as_they_are_where_no_visit_was_measured() -> None:
    before = f"{MARKS[0]}old\n{MARKS[1]}"
    assert write_costs(before, "no table", facts()) == before


def test_months_have_what_each_release_adds_and_what_does_not_grow_is_flat() -> None:
    def after(months: int) -> dict[str, Any]:
        memory = {"peak_mb": 300.0, "verify_mb": 200.0, "backup_mb": 100.0, "backup_bytes": 10**6 * months}
        seconds = {"start_s": 2.0, "start_again_s": 2.0, "preparing_cpu_s": 4.0, "backup_cpu_s": 5.0}
        seconds["verify_cpu_s"] = 3.0 + 0.5 * 2 * months
        pages = {"home": 20.0, "sites": 0.1 * months**2}
        asked = {"shares, over S3": 0.5 + 0.01 * months}
        counts = {"months": months, "releases": 2 * months}
        return {**counts, "pages_ms": pages, "questions_s": asked, **memory, **seconds}

    shown = section(facts() | {"months": [after(months) for months in (6, 12, 30, 60)]})
    assert "|  | 6 months | 12 months | 30 months | 60 months | each release | exponent |" in shown
    assert "| home, ms | 20.0 | 20.0 | 20.0 | 20.0 | 0.00 | flat |" in shown
    assert "| `firstflight verify`, s | 9.0 | 15.0 | 33.0 | 63.0 | 0.50 | 0.93 |" in shown
    assert "| shares, over S3, ms | 560.0 | 620.0 | 800.0 | 1,100.0 | 5.00 | 0.46 |" in shown
    assert "| sites, ms | 3.6 | 14.4 | 90.0 | 360.0 | 4.50 | 2.00 |" in shown


def test_a_step_that_was_stopped_costs_what_its_parts_cost() -> None:
    before = {"visits": 100, "cpu_s": 2.0, "peak_mb": 500.0, "failed": 2}
    assert add_up([before, {"visits": 50, "cpu_s": 1.0, "peak_mb": 300.0, "failed": 0}]) == {
        "visits": 150,
        "cpu_s": 3.0,
        "peak_mb": 500.0,
        "failed": 2,
    }


def test_a_made_up_site_is_the_same_each_time_and_unlike_its_neighbour(web: Web) -> None:
    rank = next(rank for rank in range(1, 50) if web.visit(rank).visit["outcome"] == "ok")
    assert web.visit(rank) == web.visit(rank)
    paths = {response["path"] for response in web.visit(rank).responses}
    assert not paths & {response["path"] for response in web.visit(rank + 1).responses}


def test_the_bytes_of_a_made_up_page_add_up(web: Web) -> None:
    for rank in range(1, 40):
        seen = web.visit(rank)
        assert seen.visit["received_bytes"] == sum(row["received_bytes"] for row in seen.connections)
        for connection in seen.connections:
            inside = sum(
                row["wire_bytes"] or 0 for row in seen.responses if row["connection_id"] == connection["id"]
            )
            assert connection["decrypted_bytes"] == inside + connection["frame_bytes"]
