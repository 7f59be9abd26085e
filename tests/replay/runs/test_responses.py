"""Times and flights of each response, from one guest."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from releases.slow_start import MSS_TIMESTAMPS, linux_flights
from replay.lab.guest_process import Lab
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import make_cells
from replay.runs.policy import at_once
from replay.runs.responses import response_tables, write_responses
from replay.runs.run import ReplayResult, replay
from schema.computed_tables import REPLAYED_RESPONSE
from tests.factories.lab_networks import FAST, RTT_MS, Rows, make_page, plain

pytestmark = pytest.mark.lab

SEGMENTS = (1, 10, 11, 30, 31, 70, 71)
WINDOWS = (3, 10)
CHAIN, BESIDE, OVER_TLS = 100, 200, 300
BLOCKING = (1,)


def page(
    visit_id: int, sizes: list[int], parents: list[int], origins: list[int], *, h2: bool = False, tls: int = 0
) -> Recipe:
    objects = (
        {"response_bytes": size, "parent": parent, "origin": where, "blocks_rendering": number in BLOCKING}
        for number, (size, parent, where) in enumerate(zip(sizes, parents, origins, strict=True))
    )
    return make_page(
        visit_id, *objects, origins=1 + max(origins), h2=h2, tls_flight_bytes=tls, tls_after_bytes=tls // 6
    )


@pytest.fixture(scope="module")
def result(lab: Lab) -> ReplayResult:
    """Pages of one response each, a chain over two hosts, two concurrent streams, and pages over TLS."""
    pages = [page(count, [count * MSS_TIMESTAMPS], [-1], [0]) for count in SEGMENTS]
    pages.append(page(CHAIN, [1_000, 2_000, 50_000], [-1, 0, 1], [0, 0, 1]))
    pages.append(page(BESIDE, [1_000, 100_000, 60_000], [-1, 0, 0], [0, 0, 0], h2=True))
    pages += [
        page(OVER_TLS + h2, [9_000, 40_000, 700], [-1, 0, 0], [0, 0, 1], h2=bool(h2), tls=3_000)
        for h2 in (0, 1)
    ]
    return replay(
        lab,
        make_cells(pages, [FAST], policies=at_once(*WINDOWS), seeds=1, conditions=[plain()]),
        guests=1,
        responses=True,
    )


@pytest.fixture
def rows(result: ReplayResult, tmp_path: Path) -> Rows:
    write_responses(tmp_path, response_tables(result))
    table = pq.read_table(tmp_path / "responses.parquet")
    assert table.schema.names == REPLAYED_RESPONSE.names
    rows: Rows = table.to_pylist()
    return rows


def of(rows: Rows, visit_id: int, iw: int = 10) -> Rows:
    return [row for row in rows if (row["visit_id"], row["iw"]) == (visit_id, iw)]


def test_the_kernels_flights_are_those_of_the_arithmetic(rows: Rows) -> None:
    counted = {(count, iw): of(rows, count, iw)[0]["flights"] for count in SEGMENTS for iw in WINDOWS}
    assert counted == {
        (count, iw): linux_flights(count * MSS_TIMESTAMPS, iw=iw) for count in SEGMENTS for iw in WINDOWS
    }


def test_a_response_is_wanted_asked_for_and_arrives(rows: Rows) -> None:
    first, second, third = of(rows, CHAIN)
    assert (first["wanted_ms"], first["is_document"], second["is_document"]) == (0, True, False)
    assert first["sent_ms"] == pytest.approx(RTT_MS, rel=0.01)  # the handshake
    assert second["wanted_ms"] == second["sent_ms"] == first["last_byte_ms"]  # its connection is free
    assert third["wanted_ms"] == second["last_byte_ms"]
    assert third["sent_ms"] - third["wanted_ms"] == pytest.approx(RTT_MS, rel=0.01)  # another host
    for row in (first, second, third):
        assert row["first_byte_ms"] - row["sent_ms"] == pytest.approx(RTT_MS, rel=0.01)
        assert row["last_byte_ms"] - row["first_byte_ms"] == pytest.approx(
            (row["flights"] - 1) * RTT_MS, abs=5
        )
    assert [row["flights"] for row in (first, second, third)] == [1, 1, 3]


def test_streams_of_a_connection_share_its_flights(rows: Rows) -> None:
    _, large, small = of(rows, BESIDE)
    together = linux_flights(160_000, iw=10)
    assert large["flights"] == together
    assert 1 < small["flights"] <= together
    assert small["last_byte_ms"] < large["last_byte_ms"]


def test_the_page_ends_with_its_last_response(result: ReplayResult, rows: Rows) -> None:
    for load in result.rows:
        each = of(rows, load["visit_id"], load["iw"])
        assert max(row["last_byte_ms"] for row in each) == load["page_ms"]
        (document,) = [row for row in each if row["is_document"]]
        # Over TLS the document here is one record, of which nothing is of use before its end.
        usable = "last_byte_ms" if load["visit_id"] >= OVER_TLS else "first_byte_ms"
        assert load["first_byte_ms"] == document[usable]
        assert len(each) == load["responses"]
        assert load["bytes_initial_loss"] == 0


def test_a_loads_latency_is_the_mean_of_its_responses(result: ReplayResult, rows: Rows) -> None:
    for load in result.rows:
        latencies = [row["last_byte_ms"] - row["sent_ms"] for row in of(rows, load["visit_id"], load["iw"])]
        assert load["response_latency_ms"] == pytest.approx(sum(latencies) / len(latencies), abs=0.002)


def test_rendering_waits_for_the_last_byte_that_blocks_it_and_for_the_document(
    result: ReplayResult, rows: Rows
) -> None:
    for load in result.rows:
        each = of(rows, load["visit_id"], load["iw"])
        blocking = [row["last_byte_ms"] for number, row in enumerate(each) if number in BLOCKING]
        assert load["render_blocking_ms"] == max([load["first_byte_ms"], *blocking])
    (chain,) = [load for load in result.rows if (load["visit_id"], load["iw"]) == (CHAIN, 10)]
    assert chain["document_ms"] < chain["render_blocking_ms"] < chain["page_ms"]
