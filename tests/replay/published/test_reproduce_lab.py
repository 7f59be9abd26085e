"""The small reproductions, for real: these boot the guest's kernel."""

import pytest

from releases.slow_start import MSS_TIMESTAMPS
from replay.lab.guest_process import Lab
from replay.networks.populations import long_rtt
from replay.published import baidu, cs244, dukkipati, dukkipati_clients, fld, ietf77, linkedin, rfc6928
from replay.published.reproduction import errors
from replay.runs.calibration import Flight
from replay.runs.guests import Guest, NetworkJob
from replay.runs.network_jobs import FIRST_ORIGIN
from replay.runs.races import race

pytestmark = pytest.mark.lab


def test_the_kernel_takes_the_rounds_that_its_arithmetic_has(lab: Lab) -> None:
    reproduction = rfc6928.run(lab)
    assert reproduction.reproduced, [row for row in reproduction.rows if row.ours != row.published]


def test_the_published_cells_of_the_rerun_come_out_within_its_bounds(lab: Lab) -> None:
    cells = [cell for cell in cs244.read_cells() if cell.experiment == "segments"]
    times = race(lab, [cell.file for cell in cells], shaper="netem", congestion_control="cubic")
    off = sorted(
        abs(time.flows[0].seconds / cell.seconds - 1) for cell, time in zip(cells, times, strict=True)
    )
    assert off[len(off) // 2] <= cs244.MEDIAN
    assert off[-1] <= cs244.P90


def test_two_packets_pass_mininets_shaper_unshaped_and_not_ten(lab: Lab) -> None:
    where = cs244.network(256.0, 70.0)
    flight = Flight(id="one", host=FIRST_ORIGIN, iw=10, bytes=10 * MSS_TIMESTAMPS)
    guest = Guest(jobs=[NetworkJob(profile=where, flights=[flight], cells=[])], recipes=[], origins=1)
    guest.run(lab, shaper="mininet")
    assert guest.failure is None
    packet_ns = 1514 * 8e9 / where.down_bps
    (at_once, first_ns), *others = flight.arrivals
    assert at_once == 2 * MSS_TIMESTAMPS
    assert len(others) == 8
    assert all(ns - first_ns > (number + 0.5) * packet_ns for number, (_, ns) in enumerate(others))


def test_arithmetic_and_kernel_agree_on_sampled_clients(lab: Lab) -> None:
    off = errors(dukkipati.kernel_rows(lab, dukkipati_clients.draw(12)))
    assert off[len(off) // 2] <= dukkipati.KERNEL_MEDIAN
    assert off[-1] <= dukkipati.KERNEL_P90


def test_bursts_of_fld_tcp_are_faster_than_renos_among_a_long_flow(lab: Lab) -> None:
    # One throw of RED's may go either way.
    outcomes = fld.race_controls(lab, fld.WAN, 1, repeats=3)
    ratios = [row.ours for row in fld.case_rows(fld.WAN, 1, outcomes) if row.unit == "x"]
    assert len(ratios) == len(fld.BURSTS)
    assert min(ratios) > 1


def test_rounds_of_equation_six_are_exact_and_uploads_gain_where_the_paper_has_it(lab: Lab) -> None:
    assert [row.ours for row in baidu.equation_rows()] == [row.published for row in baidu.equation_rows()]
    gains = baidu.gains_of(lab, "static-suzhou", sizes_kb=(10, 30, 100))
    assert gains[10] == pytest.approx(0, abs=0.001)  # seven segments fit into either window
    assert gains[30] > 0.1 < gains[100]


def test_controls_differ_where_packets_are_lost_and_only_there(lab: Lab) -> None:
    lossless, lossy = long_rtt(250, 4, 0.0), long_rtt(250, 4, 0.02)
    times = linkedin.download_times(lab, [(lossless, 60_000), (lossy, 300_000)], seeds=3)
    assert len({float(seconds[0].mean()) for seconds in times.values()}) <= 2  # Hybla's slow start is its own
    # YeAH is Scalable's while its queue is short.
    assert len({float(seconds[1].mean()) for seconds in times.values()}) == len(times) - 1


def test_a_dozen_connections_at_iw_10_lose_more_than_at_iw_3(lab: Lab) -> None:
    outcomes = ietf77.both_windows(lab, "AvgDC", "maps", 6)
    assert outcomes[10].retransmitted_pct > outcomes[3].retransmitted_pct
    assert len(outcomes[3].milliseconds) == len(outcomes[10].milliseconds) == 6
