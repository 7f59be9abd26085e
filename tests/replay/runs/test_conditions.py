"""Congestion control, pacing, loss and competition of page loads.

One guest loads one page under all of them.
"""

import dataclasses
from typing import Any

import pytest

from releases.slow_start import MSS_TIMESTAMPS
from replay.lab import kernel
from replay.lab.guest_process import Lab
from replay.networks.profiles import symmetric
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import make_cells
from replay.runs.conditions import Competition, Conditions, Loss, Neighbours
from replay.runs.policy import PACED, Policy, at_once
from replay.runs.run import replay
from tests.factories.lab_networks import load, make_page, plain, single_response

pytestmark = pytest.mark.lab

IW = 45
SEGMENTS = 2_000
DELAY_MS = 100
LINKS = 20
SHALLOW = symmetric("shallow", bps=20_000_000, rtt_us=50_000, queue_bytes=80 * 1514, source="tests")

TIGHT = dataclasses.replace(SHALLOW, id="tight", queue_bytes=20 * 1514)
DEEP = dataclasses.replace(SHALLOW, id="deep", queue_bytes=4_000_000)
CROWDED = dataclasses.replace(DEEP, id="crowded")
WIDE = dataclasses.replace(DEEP, id="wide", down_bps=1_000_000_000, up_bps=1_000_000_000)
POSTED = (1, 10, 11, 30, 31, 70, 71)
"""Segments that one, two and three flights hold from a window of 10, and one more."""
NARROW = dataclasses.replace(TIGHT, id="narrow")

PLAIN = plain()
BBR = plain(congestion_control="bbr")
LOSSY = plain(congestion_control="bbr", loss=Loss(share=0.02))
BURSTY = plain(congestion_control="bbr", loss=Loss(share=0.02, burst=4))
LOSSLESS = plain(loss=Loss(share=0))
COMPETING_FLOW = plain(competition=Competition(flows=1, congestion_control="cubic", iw=10))
COMPETING_FLOWS = plain(competition=Competition(flows=3, congestion_control="cubic", iw=10))
COMPETING_BBR = plain(competition=Competition(flows=1, congestion_control="bbr", iw=30))
PROMPT = plain(server_delay=False)
BUSY = plain(neighbours=Neighbours(load=0.5))
BUSY_BBR = dataclasses.replace(BUSY, congestion_control="bbr")
BURSTING = plain(competition=Competition(flows=1, congestion_control="cubic", iw=45))
ARMS = (LOSSY, BBR, BURSTY, COMPETING_FLOWS, COMPETING_BBR, COMPETING_FLOW, LOSSLESS, PROMPT, PLAIN)

Rows = dict[Conditions, dict[str, Any]]


def recipe(segments: int) -> Recipe:
    return single_response(segments * MSS_TIMESTAMPS, number=segments)


def page(visit_id: int, parents: list[int], *, h2: bool = False) -> Recipe:
    """A page of small responses; the server delays all but the document."""
    delayed = [{"parent": parent, "server_delay_us": DELAY_MS * 1000} for parent in parents[1:]]
    return make_page(visit_id, {}, *delayed, h2=h2)


def posting(segments: int) -> Recipe:
    recipe = single_response(1_000, number=10_000 + segments)
    document = dataclasses.replace(recipe.objects[0], request_bytes=segments * MSS_TIMESTAMPS)
    return dataclasses.replace(recipe, objects=(document,))


def by_arm(rows: list[dict[str, Any]]) -> Rows:
    arms = {tuple(arm.columns().values()): arm for arm in (*ARMS, BUSY, BUSY_BBR, BURSTING)}
    return {arms[tuple(row[name] for name in PLAIN.columns())]: row for row in rows}


@pytest.fixture(scope="module")
def all_rows(lab: Lab) -> list[dict[str, Any]]:
    """Rows of a large page under all conditions, and of smaller pages for single questions."""
    large = make_cells([recipe(SEGMENTS)], [SHALLOW], policies=at_once(IW), seeds=1, conditions=ARMS)
    pages = [page(1, [-1, 0, 1, 2]), page(2, [-1, 0, 0, 0, 0]), page(3, [-1, 0, 0, 0, 0], h2=True)]
    others = make_cells(pages, [TIGHT], policies=at_once(10), seeds=1, conditions=[PLAIN, PROMPT])
    chain = page(4, list(range(-1, LINKS - 1)))
    others += make_cells([chain], [CROWDED], policies=at_once(10), seeds=1, conditions=[BUSY, BUSY_BBR])
    others += make_cells(
        [chain], [NARROW], policies=(Policy(10), Policy(10, PACED)), seeds=1, conditions=[BURSTING]
    )
    others += make_cells(
        [posting(size) for size in POSTED], [WIDE], policies=at_once(3, 45), seeds=1, conditions=[PLAIN]
    )
    lossy = make_cells([recipe(SEGMENTS)], [DEEP], policies=at_once(IW), seeds=3, conditions=[LOSSY, BURSTY])
    burst = make_cells(
        [recipe(IW)], [TIGHT], policies=(Policy(IW), Policy(IW, PACED)), seeds=1, conditions=[PLAIN]
    )
    return load(lab, [*large, *burst, *lossy, *others])


@pytest.fixture(scope="module")
def rows(all_rows: list[dict[str, Any]]) -> Rows:
    return by_arm([row for row in all_rows if row["profile"] == SHALLOW.id])


def test_neither_what_was_in_force_before_nor_telling_of_each_response_leaves_a_trace(
    lab: Lab, rows: Rows
) -> None:
    cells = make_cells([recipe(SEGMENTS)], [SHALLOW], policies=at_once(IW), seeds=1, conditions=[plain()])
    again = by_arm(replay(lab, cells, guests=1, responses=True).rows)
    assert again[PLAIN] == rows[PLAIN]


def test_the_network_as_it_is_loses_what_its_profile_says(rows: Rows) -> None:
    same = {name: value for name, value in rows[PLAIN].items() if not name.startswith("loss")}
    assert same == {name: value for name, value in rows[LOSSLESS].items() if not name.startswith("loss")}


def test_pacing_spares_a_tight_queue_the_windows_burst(all_rows: list[dict[str, Any]]) -> None:
    rows = {row["policy"]: row for row in all_rows if row["profile"] == TIGHT.id and row["iw"] == IW}
    burst, paced = rows[f"{IW}"], rows[f"{IW} paced"]
    assert (burst["bottleneck_drops"] >= 10, paced["bottleneck_drops"]) == (True, 0)
    again = burst["bytes_initial_loss"]
    assert 10 * MSS_TIMESTAMPS <= again == burst["bytes_retransmitted"] < IW * MSS_TIMESTAMPS
    assert paced["bytes_initial_loss"] == 0
    assert (burst["connections_initial_loss"], paced["connections_initial_loss"]) == (1, 0)


def test_the_congestion_control_is_the_servers(rows: Rows) -> None:
    assert rows[BBR]["page_ms"] != rows[PLAIN]["page_ms"]
    assert rows[BBR]["bottleneck_drops"] != rows[PLAIN]["bottleneck_drops"]


@pytest.mark.parametrize("arm", [LOSSY, BURSTY])
def test_what_is_lost_at_random_is_sent_again(all_rows: list[dict[str, Any]], arm: Conditions) -> None:
    assert arm.loss
    lossy = [row for row in all_rows if row["profile"] == DEEP.id and row["loss_burst"] == arm.loss.burst]
    assert [row["bottleneck_drops"] for row in lossy] == [0, 0, 0]
    share = sum(row["segments_retransmitted"] for row in lossy) / sum(row["segments_sent"] for row in lossy)
    # Of 6,000 segments 120, give or take 11 where each is lost by itself; about thirty runs of four,
    # give or take 8.
    assert share == pytest.approx(arm.loss.share, rel=0.25 * arm.loss.burst**0.5)
    assert len({row["page_ms"] for row in lossy}) == 3


def test_competing_flows_take_their_share_of_the_bottleneck(rows: Rows) -> None:
    alone = rows[PLAIN]["page_ms"]
    assert 1.4 * alone < rows[COMPETING_FLOW]["page_ms"] < 3 * alone
    assert rows[COMPETING_FLOW]["page_ms"] < rows[COMPETING_FLOWS]["page_ms"] < 8 * alone
    for arm in (COMPETING_FLOW, COMPETING_FLOWS, COMPETING_BBR):
        row = rows[arm]
        rate = 8e3 * (row["competition_bytes"] + row["payload_bytes"]) / row["page_ms"]
        assert (
            0.75 * SHALLOW.down_bps < rate < 0.96 * SHALLOW.down_bps
        )  # headers and the background take the rest
    assert rows[PLAIN]["competition_bytes"] is None


def test_a_competing_flow_has_its_own_congestion_control(rows: Rows) -> None:
    assert rows[COMPETING_BBR]["congestion_control"] == rows[COMPETING_FLOW]["congestion_control"] == "cubic"
    assert rows[COMPETING_BBR]["competition_bytes"] != rows[COMPETING_FLOW]["competition_bytes"]
    assert rows[COMPETING_BBR]["competition"] == "1xbbr@30"


def test_the_congestion_control_is_the_pages_and_not_the_backgrounds(all_rows: list[dict[str, Any]]) -> None:
    # The page's own responses are of one segment each, which leaves alike under any.
    others = by_arm([row for row in all_rows if row["profile"] == CROWDED.id])
    assert others[BUSY_BBR]["short_flow_ms"] == others[BUSY]["short_flow_ms"]
    assert others[BUSY_BBR]["page_ms"] == others[BUSY]["page_ms"]


def test_the_pacing_is_the_pages_and_not_of_the_competing_flows(all_rows: list[dict[str, Any]]) -> None:
    # As above: of the page itself there is nothing to pace.
    at_once, paced = (row for row in all_rows if row["profile"] == NARROW.id)
    assert at_once["bottleneck_drops"] > 0
    assert at_once == paced | {"policy": at_once["policy"]}


def test_bytes_and_losses_of_competing_flows_are_not_the_pages(rows: Rows) -> None:
    for arm in ARMS:
        assert rows[arm]["payload_bytes"] == SEGMENTS * MSS_TIMESTAMPS
        assert rows[arm]["connections"] == 1


@pytest.mark.parametrize(("visit_id", "delays"), [(1, 3), (2, 1), (3, 1)])
def test_server_delays_add_up_along_a_chain_and_overlap_between_siblings(
    all_rows: list[dict[str, Any]], visit_id: int, delays: int
) -> None:
    others = by_arm([row for row in all_rows if row["visit_id"] == visit_id])
    longer = others[PLAIN]["page_ms"] - others[PROMPT]["page_ms"]
    assert longer == pytest.approx(delays * DELAY_MS, rel=0.02)
    assert others[PLAIN]["document_ms"] == others[PROMPT]["document_ms"]


def test_a_request_leaves_in_the_clients_own_window_whatever_the_servers_is(
    all_rows: list[dict[str, Any]],
) -> None:
    posted = sorted((row for row in all_rows if row["profile"] == WIDE.id), key=lambda row: row["visit_id"])
    for window in (3, 45):
        took = [row["page_ms"] for row in posted if row["iw"] == window]
        flights = [round((time_ms - took[0]) * 1000 / WIDE.rtt_us, 1) for time_ms in took]
        assert flights == [0, 0, 1, 1, 2, 2, 3]


def test_the_kernels_congestion_controls_are_known_by_name() -> None:
    assert {"reno", "cubic", "bbr", "fld"} <= set(kernel.congestion_controls())
    assert "advanced" not in kernel.congestion_controls()
