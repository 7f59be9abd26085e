import dataclasses

import pytest

from releases.slow_start import MSS_TIMESTAMPS
from replay.errors import RecipeError
from replay.networks.distances import DISTANCE, RECORDED_DISTANCE
from replay.networks.populations import PROFILES, profile
from replay.networks.profiles import FRAME_BYTES
from replay.networks.queues import QUEUES
from replay.recipes.page_recipe import Recipe
from replay.runs.calibration import CalibrationCheck, Flight, calibration_checks, count_flights
from replay.runs.cells import Cell, make_cells, row, sample
from replay.runs.conditions import Competition, Conditions, Loss, OtherQueue
from replay.runs.guests import guest_for, load_commands
from replay.runs.origins import SENDERS
from replay.runs.policy import PACED, SPREAD, Policy, at_once
from replay.runs.run import judge_cell, share_out
from schema.computed_tables import CELL
from tests.factories.lab_networks import plain, single_response
from verdict.question import HALF_LOADED

MID = profile("avgdc-2010-mid")
PACKET_NS = FRAME_BYTES * 8 * 10**9 // MID.down_bps


def recipe(number: int, size: int = 10_000) -> Recipe:
    single = single_response(size, number=number, page=f"{number}.test")
    return dataclasses.replace(single, objects=(dataclasses.replace(single.objects[0], fresh_s=0),))


def cells(recipes: list[Recipe]) -> list[Cell]:
    return make_cells(recipes, [MID], policies=at_once(3, 10), seeds=2)


def flight(
    iw: int = 10,
    *,
    handshake_ns: int | None = None,
    cwnd: int | None = None,
    packet_ns: int = PACKET_NS,
    drops: int = 0,
    learned: int = 0,
    window: int = 16_777_216,
) -> Flight:
    start = 2 * MID.rtt_us * 1000
    return Flight(
        id="x",
        host=2,
        iw=iw,
        bytes=iw * MSS_TIMESTAMPS,
        arrivals=[((n + 1) * MSS_TIMESTAMPS, start + n * packet_ns) for n in range(iw)],
        facts={
            "done": True,
            "handshake_ns": MID.rtt_us * 1000 if handshake_ns is None else handshake_ns,
            "snd_cwnd": cwnd or iw,
            "segments_retransmitted": 0,
            "bottleneck_drops": drops,
            "learned_neighbours": learned,
            "first_window_bytes": window,
        },
    )


def failed(checks: list[CalibrationCheck]) -> list[str]:
    return [check.name.split(": ")[-1] for check in checks if not check.passed]


def test_a_clean_calibration_passes_every_check() -> None:
    assert failed(calibration_checks(MID, [flight(3), flight(10), flight(30)], offloads_on=0)) == []


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        ({"handshake_ns": round(MID.rtt_us * 1001.1)}, "RTT of the handshake, ms"),
        ({"handshake_ns": MID.rtt_us * 2000}, "RTT of the handshake, ms"),
        ({"cwnd": 9}, "snd_cwnd"),
        ({"packet_ns": round(PACKET_NS * 0.985)}, "10 packets one after another, ms"),
        ({"packet_ns": round(PACKET_NS * 1.015)}, "10 packets one after another, ms"),
        ({"drops": 1}, "segments lost"),
        ({"learned": 1}, "neighbours learned by ARP"),
        ({"window": 29_200}, "receive window, bytes"),
    ],
)
def test_each_check_can_fail(broken: dict[str, int], check: str) -> None:
    assert failed(calibration_checks(MID, [flight(**broken)], offloads_on=0)) == [check]


def test_an_offload_that_is_on_fails_its_check() -> None:
    assert failed(calibration_checks(MID, [flight()], offloads_on=1)) == ["interfaces with an offload on"]


def test_a_flight_that_never_came_fails_its_check() -> None:
    lost = Flight(id="x", host=2, iw=10, bytes=MSS_TIMESTAMPS * 10)
    assert failed(calibration_checks(MID, [lost], offloads_on=0)) == ["flight arrived"]


def test_packets_that_arrive_as_one_are_seen() -> None:
    merged = flight()
    merged.arrivals = merged.arrivals[4:]
    assert "packets apart" in failed(calibration_checks(MID, [merged], offloads_on=0))


def test_a_pause_of_more_than_half_a_round_trip_begins_a_flight() -> None:
    train = Flight(
        id="x", host=2, iw=2, bytes=4, arrivals=[(1, 0), (2, 1_000), (3, 40_000_000), (4, 100_000_000)]
    )
    assert count_flights(train, rtt_us=100_000) == 2


def test_cells_pair_by_page_profile_and_seed_over_all_windows() -> None:
    planned = cells([recipe(1), recipe(2)])
    states = {(cell.recipe.page, cell.seed, cell.policy): cell.random_state for cell in planned}
    for (page, seed, policy), state in states.items():
        assert state == states[page, seed, Policy(3)]
        assert {other for key, other in states.items() if key != (page, seed, policy) and other == state} <= {
            state
        }
    assert len(set(states.values())) == 4


def test_a_cells_id_is_unique_and_carries_no_host_name() -> None:
    planned = make_cells(
        [recipe(1), recipe(2)],
        PROFILES,
        policies=(Policy(3), Policy(3, PACED), Policy(10, SPREAD, 100)),
        seeds=3,
    )
    assert len({cell.id for cell in planned}) == len(planned)
    assert not any("test" in cell.id or " " in cell.id for cell in planned)


def test_every_condition_is_in_a_cells_id_and_its_row_and_pairs_with_the_others() -> None:
    varied = [
        Conditions(),
        Conditions(congestion_control="bbr"),
        *(Conditions(senders=name) for name in SENDERS[1:]),
        *(Conditions(distance=name) for name in DISTANCE if name != RECORDED_DISTANCE),
        Conditions(http3="tcp"),
        *(Conditions(queue=queue) for queue in QUEUES.values()),
        Conditions(loss=Loss(share=0.01)),
        Conditions(loss=Loss(share=0.01, burst=4)),
        Conditions(competition=Competition(flows=2, congestion_control="reno", iw=3)),
        Conditions(server_delay=False),
        Conditions(warm_cache=True),
        Conditions(tls_records="16k"),
        Conditions(discovery="last-byte"),
        Conditions(tls_handshake="resumed"),
        Conditions(prioritised=True),
        Conditions(send_buffer="16k"),
        Conditions(neighbours=HALF_LOADED),
    ]
    planned = make_cells([recipe(1)], [MID], policies=at_once(10), seeds=1, conditions=varied)
    assert len({cell.id for cell in planned}) == len(varied)
    assert len({cell.random_state for cell in planned}) == 1
    assert len({tuple(cell.conditions.columns().values()) for cell in planned}) == len(varied)
    assert set(Conditions().columns()) <= set(CELL.names)


def test_pages_without_caching_headers_have_no_warm_cache_and_say_what_is_missing() -> None:
    unknown = dataclasses.replace(
        recipe(1), objects=tuple(dataclasses.replace(object_, fresh_s=None) for object_ in recipe(1).objects)
    )
    with pytest.raises(RecipeError, match=r"1\.test: a warm cache needs .* of which none is known"):
        make_cells(
            [unknown], [MID], policies=at_once(3, 10), seeds=1, conditions=[Conditions(warm_cache=True)]
        )


def test_a_condition_is_told_when_it_changes_and_not_again() -> None:
    varied = [plain(), plain(loss=Loss(share=0.01, burst=4))]
    policies = (Policy(3), Policy(10, PACED))
    planned = make_cells([recipe(1)], [MID], policies=policies, seeds=1, conditions=varied)
    commands = [line for line in load_commands(planned, {recipe(1): 0}) if not line.startswith("cell")]
    assert commands == [
        "control cubic",
        "policy 3:at-once:-1",
        "loss 0.000000000 1.000",
        "tls-records recorded 16384",
        "priorities off",
        "send-buffer 65536 0",
        "alias off",
        "request-limit 10 0",
        "names off",
        "receive-window 0",
        "delayed-acknowledgements off",
        "handshake recorded",
        "discovery recorded",
        "server-delay on",
        "competing-flows 0 10 cubic",
        "background 10:at-once:-1",
        "probe off",
        "short-flows off",
        "origins plain",
        "policy 10:paced:-1",
        "policy 3:at-once:-1",
        "loss 0.010000000 4.000",
        "policy 10:paced:-1",
    ]


def test_a_network_with_another_queue_is_calibrated_by_itself() -> None:
    queue = OtherQueue(bdp=1)
    both = [Conditions(), Conditions(queue=queue)]
    guest = guest_for(make_cells([recipe(1)], [MID], policies=at_once(3, 10), seeds=1, conditions=both))
    assert [(job.profile.id, job.profile.queue_bytes) for job in guest.jobs] == [
        (MID.id, MID.queue_bytes),
        (MID.id, MID.bdp_bytes),
    ]
    assert [len(job.cells) for job in guest.jobs] == [2, 2]
    assert all(len(job.flights) >= 2 for job in guest.jobs)


def test_a_sample_has_the_smallest_and_the_largest_page_and_some_between() -> None:
    recipes = [recipe(number, size=1_000 * number) for number in (5, 1, 4, 2, 3, 9, 8, 7, 6)]
    assert [recipe_.visit_id for recipe_ in sample(recipes, 3)] == [1, 5, 9]
    assert sample(recipes, 20) == recipes
    assert [recipe_.visit_id for recipe_ in sample(recipes, 1)] == [1]


def test_pages_are_shared_out_whole_and_evenly() -> None:
    recipes = [recipe(number, size=number * 10_000) for number in range(1, 9)]
    shares = share_out(cells(recipes), 2)
    pages = [{cell.recipe.visit_id for cell in share} for share in shares]
    assert pages[0].isdisjoint(pages[1])
    assert pages[0] | pages[1] == set(range(1, 9))
    loads = [sum(cell.recipe.response_bytes for cell in share) for share in shares]
    assert max(loads) <= 1.2 * min(loads)


def test_a_refused_cell_has_its_reason_and_no_figure() -> None:
    (cell, *_) = cells([recipe(1)])
    broken = CalibrationCheck("RTT", 2, expected=1, tolerance=0.001)
    judged = judge_cell(cell, {"cell": cell.id, "page_ns": 10**9, "responses": 1}, None, broken)
    assert (judged["state"], judged["page_ms"], judged["responses"]) == ("refused", None, None)
    assert "RTT" in judged["reason"]


def test_a_load_that_failed_inside_says_so() -> None:
    (cell, *_) = cells([recipe(1)])
    judged = judge_cell(cell, {"cell": cell.id, "failed": "connection reset"}, None, None)
    assert (judged["state"], judged["reason"], judged["page_ms"]) == ("failed", "connection reset", None)


def test_a_row_has_the_columns_of_the_schema_and_times_to_the_microsecond() -> None:
    (cell, *_) = cells([recipe(1)])
    values = row(cell, "done", None, {"page_ns": 70_000_896, "document_ns": 1_500, "responses": 1})
    assert list(values) == CELL.names
    assert (values["page_ms"], values["document_ms"], values["first_byte_ms"]) == (70.001, 0.002, None)
