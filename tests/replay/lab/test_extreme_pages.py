"""Pages and runs beyond the ordinary: many pages, origins, windows or levels, and recipes that are not valid.

These boot the guest's kernel.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import pytest

from replay.lab.guest_process import Lab
from replay.networks.profiles import symmetric
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import Cell, make_cells
from replay.runs.conditions import Competition, Loss, Neighbours, OtherQueue
from replay.runs.guests import Guest, NetworkJob
from replay.runs.policy import PACED, Policy, at_once
from replay.runs.run import ReplayResult, replay
from tests.factories.lab_networks import make_page, plain

pytestmark = pytest.mark.lab

FAR = symmetric("far", bps=10_000_000, rtt_us=300_000, source="tests")


def page(objects: Sequence[Mapping[str, int]], *, visit_id: int = 1) -> Recipe:
    most = max(each.get("origin", 0) for each in objects)
    hosts = [{"host": f"{number}.test"} for number in range(1 + most)]
    return make_page(visit_id, *({"origin": 0, "parent": -1, **each} for each in objects), origins=hosts)


def loaded(lab: Lab, pages: Sequence[Recipe], *, windows: Sequence[int] = (10,)) -> ReplayResult:
    return replay(
        lab, make_cells(pages, [FAR], policies=at_once(*windows), seeds=1, conditions=[plain()]), guests=1
    )


def states(result: ReplayResult) -> list[tuple[str, str | None]]:
    return [(row["state"], row["reason"]) for row in result.rows]


def test_a_guest_takes_more_than_4096_pages(lab: Lab) -> None:
    pages = [page([{}], visit_id=number) for number in range(1, 4_099)]
    (last,) = make_cells(pages[-1:], [FAR], policies=at_once(10), seeds=1, conditions=[plain()])
    job = NetworkJob(profile=FAR, flights=[], cells=[last])
    guest = Guest(jobs=[job], recipes=pages, origins=1)
    guest.run(lab)
    assert guest.failure is None
    assert job.answers[last.id]["responses"] == 1


def test_a_page_opens_six_connections_to_each_of_250_origins(lab: Lab) -> None:
    (row,) = loaded(lab, [page([{"origin": number // 6} for number in range(1_500)])]).rows
    assert (row["state"], row["connections"]) == ("done", 1_500)


def test_a_page_without_a_response_from_a_server_costs_itself_alone(lab: Lab) -> None:
    (empty, why), (whole, _) = states(loaded(lab, [page([{"response_bytes": 0}]), page([{}], visit_id=2)]))
    assert (empty, whole) == ("failed", "done")
    assert why == "the page's recipe is not valid: does any response come from a server?"


def test_a_chain_of_3000_objects_has_the_time_that_it_takes(lab: Lab) -> None:
    (row,) = loaded(lab, [page([{"parent": number - 1} for number in range(3_000)])]).rows
    assert row["state"] == "done"
    assert row["page_ms"] > 3_000 * FAR.rtt_us / 1e3


def test_a_chain_of_3000_objects_in_the_cache_takes_no_time(lab: Lab) -> None:
    chain = [
        {"parent": number - 1, "response_bytes": 1_000 * (number in {0, 3_000})} for number in range(3_001)
    ]
    cached, direct = loaded(lab, [page(chain), page([{}, {"parent": 0}], visit_id=2)]).rows
    assert (cached["responses"], cached["page_ms"]) == (2, direct["page_ms"])


def test_seventy_windows_are_seventy_loads(lab: Lab) -> None:
    assert states(loaded(lab, [page([{}])], windows=range(1, 71))) == [("done", None)] * 70


def test_a_cell_may_have_every_condition_at_once(lab: Lab) -> None:
    named = dataclasses.replace(FAR, id="n" * 64)
    every = plain(
        congestion_control="cubic",
        loss=Loss(share=0.0125, burst=2.5),
        competition=Competition(flows=10, congestion_control="cubic", iw=100),
        queue=OtherQueue(bytes=1_000_000),
        neighbours=Neighbours(load=0.25, everyone=True, probe=True),
        warm_cache=False,
        tls_records="dynamic",
        discovery="first-byte",
        tls_handshake="early-data",
        requests="unlimited",
        resolves_names=True,
        receiver="windows",
        prioritised=True,
        send_buffer="linux",
    )
    cells: list[Cell] = make_cells(
        [page([{}], visit_id=2**62)], [named], policies=(Policy(100, PACED),), seeds=1, conditions=[every]
    )
    assert states(replay(lab, cells, guests=1)) == [("done", None)]
