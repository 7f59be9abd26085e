"""What pages forget that a proxy records, and the score of the assignment from its stored pairs."""

import csv
import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from studies.forgetting.comparing import (
    COPIES,
    FORGOTTEN,
    PAIRS,
    RECORDED,
    SCHEMA,
    difference,
    measure,
    table_of,
)
from studies.forgetting.forgotten import KNOWN_ELSEWHERE, forget_page, forget_sizes
from studies.pairs import saved
from studies.recorded_pages.assignment import assign, protocols_of
from studies.recorded_pages.facts import PageFacts
from tests.factories.recorded_pages import document, requests, row


def page(*rows: dict[str, object]) -> PageFacts:
    return PageFacts(number=1, load_us=None, browser="", requests=requests(*rows))


def test_a_body_of_known_length_keeps_it_and_gets_the_headers_text() -> None:
    (request,) = requests(row(0, content_length=900, transfer_bytes=1000, response_header_chars=400))
    forgotten = forget_sizes(request)
    assert (forgotten.body_bytes, forgotten.transfer_bytes) == (900, 900 + 400 + 17)


def test_without_a_length_half_of_the_text_comes_off_what_was_counted() -> None:
    (request,) = requests(row(0, transfer_bytes=1000, response_header_chars=383))
    forgotten = forget_sizes(request)
    assert (forgotten.body_bytes, forgotten.transfer_bytes) == (800, 1200)


def test_a_page_knows_of_a_third_of_its_origins_what_they_spoke_and_of_none_by_itself() -> None:
    rows = [document(), *(row(entry, origin=entry, protocol="h3") for entry in range(1, 1001))]
    forgotten = forget_page(page(*rows), np.random.default_rng(1))
    known = [request.protocol_elsewhere for request in forgotten.requests]
    assert known.count("h3") / 1000 == pytest.approx(KNOWN_ELSEWHERE, abs=0.05)
    assert set(known) == {"h3", "h2", None} or set(known) == {"h3", None}
    assigned = {request.protocol for request in assign(forgotten.requests)}
    assert assigned == {"h2", "h3"}
    assert len(protocols_of(forgotten.requests)) == 1001


def test_what_is_forgotten_is_the_same_for_a_seed() -> None:
    rows = [document(), *(row(entry, origin=entry % 7, referer_entry=0) for entry in range(1, 60))]
    first, again, other = (forget_page(page(*rows), np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.fixture(scope="module")
def pairs() -> pa.Table:
    return pq.read_table(PAIRS)


def test_the_score_is_that_of_the_stored_pairs(pairs: pa.Table) -> None:
    with PAIRS.with_name("score.csv").open(encoding="utf-8", newline="") as file:
        stored = list(csv.reader(file))[1:]
    assert [[str(value) for value in line] for line in table_of(pairs)] == stored


def test_a_copy_that_remembers_everything_does_not_differ(pairs: pa.Table) -> None:
    same = {
        name: pairs[name.replace(FORGOTTEN, RECORDED)] if name.endswith(FORGOTTEN) else pairs[name]
        for name in SCHEMA.names
    }
    effects = measure(pa.table(same))
    for name in ("page", "resent"):
        values = {copy: saved(effects, name, copy, 0.025) for copy in COPIES}
        assert dataclasses.astuple(difference(effects, name, values)) == pytest.approx((0, 0, 0), abs=1e-12)


def test_a_copy_whose_pages_take_a_tenth_longer_by_the_candidate_saves_ten_points_less(
    pairs: pa.Table,
) -> None:
    longer = pairs["log_time_recorded"].to_numpy() + np.float32(np.log(1.1))
    place = SCHEMA.get_field_index(f"log_time_{FORGOTTEN}")
    changed = pairs.set_column(place, SCHEMA.field(place), pa.array(longer, pa.float32()))
    effects = measure(changed)
    values = {copy: saved(effects, "page", copy, 0.025) for copy in COPIES}
    recorded = 1 - values[RECORDED].estimate / 100
    assert difference(effects, "page", values).estimate == pytest.approx(-10 * recorded, rel=1e-3)
