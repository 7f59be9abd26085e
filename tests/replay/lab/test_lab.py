"""The lab for real: these boot the guest's kernel. Without it they fail and say how to build it."""

import os
import pwd
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from firstflight.settings import from_environment
from releases.slow_start import MSS_TIMESTAMPS, linux_flights
from replay.lab.guest_process import Lab
from replay.networks.populations import PROFILES, profile
from replay.networks.profiles import Profile
from replay.networks.stored_populations import BUNDLED, find_population, list_stored
from replay.recipes.page_recipe import Recipe
from replay.recipes.tls_records import RECORD_OVERHEAD_BYTES
from replay.runs.calibration import Flight, count_flights
from replay.runs.cells import make_cells
from replay.runs.guests import measure_flights, selftest
from replay.runs.network_jobs import FIRST_ORIGIN
from replay.runs.policy import at_once
from replay.runs.run import ReplayResult, replay
from tests.circles import ALL
from tests.factories.lab_networks import FAST, make_page, plain

pytestmark = pytest.mark.lab

WALL_S = 60


def page(
    sizes: list[int], *, visit_id: int = 1, origins: int = 1, tls: int = 0, after: int = 0, **origin: Any
) -> Recipe:
    """A page whose objects go round its origins; all hang off the document."""
    kind = {"port": 443 if tls else 80, "tls_flight_bytes": tls, "tls_after_bytes": after, **origin}
    return make_page(visit_id, *sizes, origins=origins, **kind)


def run(
    lab: Lab,
    recipes: list[Recipe],
    profiles: list[Profile],
    *,
    windows: tuple[int, ...] = (10,),
    seeds: int = 1,
    guests: int = 1,
    shaper: str = "tbf",
) -> ReplayResult:
    cells = make_cells(recipes, profiles, policies=at_once(*windows), seeds=seeds, conditions=[plain()])
    return replay(lab, cells, guests=guests, silence_s=WALL_S, shaper=shaper)


def test_every_profile_passes_its_calibration_checks(lab: Lab) -> None:
    checks_by_profile = selftest(lab)
    assert set(checks_by_profile) == {profile_.id for profile_ in PROFILES}
    assert [str(check) for checks in checks_by_profile.values() for check in checks if not check.passed] == []
    assert all(len(checks) > 20 for checks in checks_by_profile.values())


@pytest.mark.slow
def test_every_network_of_the_bundled_populations_passes_its_calibration_checks(lab: Lab) -> None:
    for population in list_stored(BUNDLED):
        networks = find_population(BUNDLED, population.id).profiles[:: 1 if ALL else 4]
        checks_by_network = selftest(lab, networks)
        assert set(checks_by_network) == {network.id for network in networks}
        assert [
            str(check) for checks in checks_by_network.values() for check in checks if not check.passed
        ] == []


def test_mininets_default_shaper_fails_a_check_and_its_cells_are_refused(lab: Lab) -> None:
    large = page([30_000])
    (row,) = run(lab, [large], [profile("avgdc-2010-mid")], shaper="mininet").rows
    assert row["state"] == "refused"
    assert "packets one after another" in row["reason"]
    assert row["page_ms"] is None


def test_flights_of_the_kernel_equal_the_arithmetic(lab: Lab) -> None:
    cases = [
        Flight(id=f"{iw}-{n}", host=FIRST_ORIGIN, iw=iw, bytes=n * MSS_TIMESTAMPS)
        for iw in (3, 10, 16, 30)
        for n in (1, iw, iw + 1, 3 * iw, 3 * iw + 1, 7 * iw, 7 * iw + 1)
    ]
    measured = measure_flights(lab, FAST, cases)
    assert {flight.id: count_flights(flight, rtt_us=FAST.rtt_us) for flight in measured} == {
        case.id: linux_flights(case.bytes, iw=case.iw) for case in cases
    }


def test_the_same_cells_come_out_equal_whatever_runs_beside_and_before_them(lab: Lab) -> None:
    recipes = [
        page([20_000, 60_000, 5_000, 90_000, 1_000] * 4, visit_id=1, origins=4),
        page([9_000, 150_000, 30_000, 2_000] * 3, visit_id=2, origins=2, h2=True, tls=3_000, after=500),
    ]
    slow = [profile("avgdc-2010-mid"), profile("slowdc-2010-median")]
    together = run(lab, recipes, slow, windows=(10, 30), seeds=2).rows
    apart = run(lab, recipes[::-1], slow[::-1], windows=(30, 10), seeds=2, guests=2).rows
    assert together == apart
    assert {row["state"] for row in together} == {"done"}
    assert any(row["bottleneck_drops"] and row["bytes_retransmitted"] for row in together)


def test_seeds_differ_where_packets_are_lost(lab: Lab) -> None:
    busy = page([20_000] + [60_000] * 24, origins=4)
    rows = run(lab, [busy], [profile("avgdc-2010-mid")], windows=(30,), seeds=3).rows
    assert all(row["bottleneck_drops"] > 0 for row in rows)
    assert len({row["page_ms"] for row in rows}) == 3


@pytest.mark.parametrize(("h2", "tls"), [(False, 0), (False, 3_000), (True, 3_000), (True, 0)])
def test_a_page_is_its_bytes_its_round_trips_and_its_connections(lab: Lab, h2: bool, tls: int) -> None:
    sizes = [5_000, *[1_400] * 8, 20_000]
    recipe = page(sizes, origins=2, h2=h2, tls=tls, after=600)
    (row,) = run(lab, [recipe], [FAST]).rows
    # Over H1 an object goes to whichever connection is free first:
    # the document's answers before others are open.
    connections = row["connections"]
    assert connections == 2 if h2 else 2 < connections <= len(sizes) - 1
    records = 0
    if tls:  # of 16 kB, each response its own; over H2 those share one whose requests came in one packet of the two  # noqa: E501
        records = 1 + 2 + 3 if h2 else len(sizes) + 1
    assert row["payload_bytes"] == sum(sizes) + connections * (tls + 600) + records * RECORD_OVERHEAD_BYTES
    assert row["responses"] == len(sizes)
    assert (row["bytes_retransmitted"], row["connections_initial_loss"]) == (0, 0)
    assert row["snd_cwnd_min"] == 10
    trips = 3 if tls else 2  # connect, TLS, ask
    rtt_ms = FAST.rtt_us / 1e3
    assert row["document_ms"] == pytest.approx(trips * rtt_ms, rel=0.02)
    assert row["page_ms"] >= (2 * trips) * rtt_ms
    assert row["page_ms"] <= (2 * trips + 1) * rtt_ms * 1.02


def test_an_object_is_requested_when_its_parent_has_arrived(lab: Lab) -> None:
    chain = make_page(1, *[1_000] * 5, is_chain=True)
    (row,) = run(lab, [chain], [FAST]).rows
    assert row["connections"] == 1
    assert row["page_ms"] == pytest.approx(6 * FAST.rtt_us / 1e3, rel=0.01)


def test_a_host_gets_six_connections_over_http1_and_one_over_http2(lab: Lab) -> None:
    sizes = [1_000] * 30
    for h2, most in ((False, 6), (True, 1)):
        (row,) = run(lab, [page(sizes, h2=h2)], [FAST]).rows
        assert row["connections"] == most


def test_a_guest_that_cannot_start_its_network_says_why(lab: Lab) -> None:
    arms = [plain(congestion_control="no-such-control")]
    cells = make_cells([page([1_000])], [FAST], policies=at_once(10), seeds=1, conditions=arms)
    (row,) = replay(lab, cells, guests=1, silence_s=WALL_S).rows
    assert row["state"] == "failed"
    assert "player: no-such-control: No such file or directory" in row["reason"]


def test_an_ordinary_user_can_run_the_lab(lab: Lab, tmp_path: Path) -> None:
    user = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    done = subprocess.run(
        [sys.executable, "-m", "firstflight", "replay", "selftest"],
        env={
            "PATH": "/usr/bin:/bin:/usr/sbin",
            "FIRSTFLIGHT_CACHE_DIR": str(from_environment().cache_dir),
            "FIRSTFLIGHT_DATA_DIR": str(tmp_path),
        },
        user=user if os.geteuid() == 0 else None,
        capture_output=True,
        text=True,
        timeout=WALL_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "serial" in done.stdout or "one after another" in done.stdout
