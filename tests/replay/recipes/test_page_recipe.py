import datetime
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from releases.catalogue import Release
from replay.errors import RecipeError
from replay.recipes.page_recipe import (
    MOST_BODY_BYTES,
    REQUEST_BYTES,
    Object,
    Origin,
    Recipe,
    find_parents,
    read_recipes,
)
from replay.recipes.variants import NOT_MODIFIED_BYTES, REVISIT_S, replace_http, warm_recipe
from schema.arrow import arrow_schema
from schema.crawls import CrawlName
from schema.tables import Base, Connection, Response, Visit
from tests.factories.made_up_release import make_manifest

Row = dict[str, Any]
Read = Callable[..., list[Recipe]]

NOON = datetime.datetime(2026, 11, 1, 12, tzinfo=datetime.UTC)


def filled(table: type[Base], **values: Any) -> Row:
    """A row of `table`; values that are not given are null, or else arbitrary."""
    plain = {"int16": 0, "int32": 0, "int64": 0, "bool": False, "string": "", "double": 0.0}
    schema = arrow_schema(Base.metadata.tables[table.__tablename__])
    unknown = set(values) - set(schema.names)
    assert not unknown, unknown
    return {
        field.name: values.get(field.name, None if field.nullable else plain.get(str(field.type), NOON))
        for field in schema
    }


def visit(**values: Any) -> Row:
    standard = {"id": 1, "host": "a.test", "is_final": True, "outcome": "ok", "main_response_id": 1}
    return filled(Visit, **{**standard, **values})


def connection(id_: int, **values: Any) -> Row:
    standard = {"id": id_, "visit_id": 1, "host": "a.test", "port": 80, "protocol": "http/1.1"}
    return filled(Connection, **{**standard, **values})


def response(id_: int, wire_bytes: int | None = 1000, connection_id: int | None = 1, **values: Any) -> Row:
    unknown = None if wire_bytes is not None else "aborted"
    standard = {"visit_id": 1, "host": "a.test", "wire_bytes_unknown": unknown}
    return filled(
        Response, id=id_, wire_bytes=wire_bytes, connection_id=connection_id, **{**standard, **values}
    )


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """A function that reads the recipes of a release with these rows: of one visit over one connection,
    unless others are given."""

    def call(
        responses: list[Row],
        connections: Sequence[Row] = (connection(1),),
        visits: Sequence[Row] = (visit(),),
        *,
        kind: str = "web",
    ) -> list[Recipe]:
        for table, rows in ((Visit, visits), (Connection, connections), (Response, responses)):
            schema = arrow_schema(Base.metadata.tables[table.__tablename__])
            place = tmp_path / f"{table.__tablename__}.parquet"
            pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), place)
        return read_recipes(Release(tmp_path, make_manifest(CrawlName(month="2026-11", kind=kind))))

    return call


def test_a_host_over_http2_and_http3_is_two_origins_of_one_distance(read: Read) -> None:
    times = {"opened_us": 0, "connected_us": 20_000, "secured_us": 45_000, "tls_version": "TLS 1.3"}
    connections = [
        connection(1, protocol="h2", port=443, **times),
        connection(2, protocol="h3", port=443, **times | {"connected_us": 90_000, "secured_us": 90_000}),
        connection(3, host="b.test", protocol="h2", port=443, **times | {"connected_us": 60_000}),
        connection(4, host="c.test", protocol="h3", port=443, **times),
    ]
    responses = [
        response(1),
        response(2, connection_id=2),
        response(3, connection_id=3),
        response(4, connection_id=4),
    ]
    (recipe,) = read(responses, connections)
    assert [origin.h2 for origin in recipe.origins] == [True] * 4
    assert [origin.is_http3 for origin in recipe.origins] == [False, True, False, True]
    near, same, far, unknown = (origin.distance_us for origin in recipe.origins)
    assert near is not None
    assert (near, unknown) == (same, None)
    assert far == near + 40_000, "beyond the crawl's own line, which all its handshakes hold"
    assert not any(origin.is_http3 for origin in replace_http(recipe, "h2").origins)


def test_the_local_web_is_at_the_end_of_the_line(read: Read) -> None:
    times = {"opened_us": 0, "connected_us": 20_000}
    connections = [connection(1, **times), connection(2, **times)]
    (recipe,) = read([response(1)], connections, kind="localweb")
    assert [origin.distance_us for origin in recipe.origins] == [0]


def test_a_page_keeps_its_origins_its_order_and_its_sizes(read: Read) -> None:
    connections = [
        connection(1),
        connection(
            2,
            host="b.test",
            port=443,
            protocol="h2",
            tls_version="TLS 1.3",
            tls_handshake_bytes=3000,
            tls_ticket_bytes=500,
            frame_bytes=40,
            first_record_bytes=[73, *[1_391] * 9],
        ),
    ]
    responses = [
        response(1, 2000),
        response(2, 40_000, 2, host="b.test", initiator_id=1, stream_id=1),
        response(3, 700, 1, initiator_id=2),
    ]
    (recipe,) = read(responses, connections)
    assert recipe.origins == (
        Origin(host="a.test", port=80, h2=False, tls_flight_bytes=0, tls_after_bytes=0),
        Origin(
            host="b.test",
            port=443,
            h2=True,
            tls_flight_bytes=3000,
            tls_after_bytes=540,
            tls_records=((40, 1_369), (0, 16_384)),
        ),
    )
    assert recipe.objects == (
        Object(response_id=1, origin=0, parent=-1, response_bytes=2000, is_document=True, kind="page"),
        Object(response_id=2, origin=1, parent=0, place=1000, response_bytes=40_000, is_document=False),
        Object(response_id=3, origin=0, parent=1, response_bytes=700, is_document=False),
    )
    assert (recipe.page, recipe.visit_id, recipe.left_out) == ("a.test", 1, 0)
    assert (
        recipe.to_text().splitlines()
        == [
            "page 2 3",
            "origin h1 0 0 0 1 0 -",
            "origin h2 1 0 3000 1 540 40x1369,16384",
            "object 0 -1 450 2000 1 0 1 -1 0 3 1 0 0",
            "object 1 0 450 40000 0 0 1000 -1 0 3 1 0 0",  # in the middle of the document, as the only one that it leads to  # noqa: E501
            "object 0 1 450 700 0 0 40000 -1 0 3 1 0 0",  # the end of what is no HTML
        ]
    )


def test_a_response_of_unknown_size_is_counted_and_its_children_move_to_its_parent(
    read: Read,
) -> None:
    responses = [
        response(1),
        response(2, None, initiator_id=1),
        response(3, initiator_id=2),
        response(4, None),
    ]
    (recipe,) = read(responses)
    assert [object_.response_id for object_ in recipe.objects] == [1, 3]
    assert [object_.parent for object_ in recipe.objects] == [-1, 0]
    assert recipe.left_out == 2


def test_a_response_that_is_incomplete_is_left_out_unless_it_is_a_redirect(read: Read) -> None:
    responses = [
        response(1, is_complete=True),
        response(2, is_complete=False, status=200, initiator_id=1),
        response(3, is_complete=True, initiator_id=2),
        response(4, is_complete=False, status=302, initiator_id=1),
        response(5, is_complete=True, redirected_from_id=4),
    ]
    (recipe,) = read(responses)
    assert [(object_.response_id, object_.parent) for object_ in recipe.objects] == [
        (1, -1),
        (3, 0),
        (4, 0),
        (5, 2),
    ]
    assert recipe.left_out == 1


def test_a_page_whose_document_is_incomplete_is_not_replayed(read: Read) -> None:
    with pytest.raises(RecipeError, match="no page that can be replayed"):
        read([response(1, is_complete=False, status=200)])


def test_server_delays_are_kept_as_far_as_they_were_recorded(read: Read) -> None:
    handshake = connection(1, remote_address="192.0.2.1", opened_us=0, connected_us=30_000)
    responses = [
        response(1, request_sent_us=30_000, first_byte_us=100_000, last_byte_us=100_000),
        response(2, initiator_id=1, request_sent_us=100_000),
    ]
    (recipe,) = read(responses, [handshake])
    assert [object_.server_delay_us for object_ in recipe.objects] == [40_000, None]
    assert [object_.think_us for object_ in recipe.objects] == [
        40_000,
        40_000,
    ]  # that of all, where none of its kind is known
    assert recipe.to_text().splitlines()[-2:] == [
        "object 0 -1 450 1000 1 40000 1 -1 0 3 1 0 0",
        "object 0 0 450 1000 0 40000 500 -1 0 3 1 0 0",
    ]


def test_the_local_webs_server_has_no_think_time(read: Read) -> None:
    handshake = connection(1, remote_address="192.0.2.1", opened_us=0, connected_us=30_000)
    responses = [response(1, request_sent_us=30_000, first_byte_us=100_000, last_byte_us=100_000)]
    (recipe,) = read(responses, [handshake], kind="localweb")
    assert [object_.think_us for object_ in recipe.objects] == [0]


def test_a_crawl_of_today_tells_think_times_itself(read: Read) -> None:
    paths = [connection(1, round_trip_us=20_000, tls_version="TLS 1.3", port=443, initial_window_segments=3)]
    responses = [
        response(1, 20_000, server_delay_us=90_000, round_trip_us=20_000, request_sent_us=0),
        response(2, 20_000, server_delay_us=90_000, round_trip_us=20_000, request_sent_us=0),
        response(3, initiator_id=1),
    ]
    (recipe,) = read(responses, paths)
    # The first record of 16 kB took two round trips beyond the first from a window of three.
    assert [object_.server_delay_us for object_ in recipe.objects] == [50_000, 90_000, None]


def test_the_body_of_a_request_is_part_of_its_size(read: Read) -> None:
    secure = connection(1, protocol="h2", tls_version="TLS 1.3", tls_handshake_bytes=3000)
    clear = connection(2)
    responses = [
        response(1),
        response(2, request_body_bytes=0),
        response(3, request_body_bytes=40_000),
        response(4, 1_000, 2, request_body_bytes=40_000),
        response(5, 1_000, 2, request_body_bytes=2**60),
    ]
    (recipe,) = read(responses, [secure, clear])
    carried = [object_.request_bytes - REQUEST_BYTES for object_ in recipe.objects]
    assert carried == [0, 0, 40_000 + 3 * 22, 40_000, MOST_BODY_BYTES]
    assert recipe.to_text().splitlines()[-2] == "object 1 0 40450 1000 0 0 600 -1 0 3 1 0 0"


SAID: Row = {"method": "GET", "status": 200, "no_store": False, "no_cache": False, "has_validator": False}


def test_a_second_visit_follows_the_caching_headers_of_a_release(read: Read) -> None:
    responses = [
        response(1, 20_000, **SAID, lifetime_by="none"),
        response(2, **SAID, lifetime_by="max-age", lifetime_s=3600, age_s=3600 - REVISIT_S - 1),
        response(3, **SAID, lifetime_by="max-age", lifetime_s=3600, age_s=3600 - REVISIT_S),
        response(4, 5_000, **(SAID | {"has_validator": True}), lifetime_by="none", initiator_id=2),
        response(5, **(SAID | {"no_store": True}), lifetime_by="max-age", lifetime_s=3600),
        response(6, method="GET", status=200),  # its header never came
    ]
    (recipe,) = read(responses)
    assert [object_.fresh_s for object_ in recipe.objects] == [0, REVISIT_S + 1, REVISIT_S, 0, 0, None]
    again = [
        (object_.response_id, object_.parent, object_.response_bytes)
        for object_ in warm_recipe(recipe).objects
    ]
    assert again == [
        (1, -1, 20_000),
        (2, 0, 0),
        (3, 0, 1_000),
        (4, 1, NOT_MODIFIED_BYTES),
        (5, 0, 1_000),
        (6, 0, 1_000),
    ]


def test_responses_from_a_cache_are_not_in_a_cold_load(read: Read) -> None:
    responses = [response(1), response(2, 0, None, from_cache=True)]
    (recipe,) = read(responses)
    assert [object_.response_id for object_ in recipe.objects] == [1]
    assert recipe.left_out == 0


def test_a_redirect_comes_before_the_document_and_the_rest_after(read: Read) -> None:
    responses = [response(1), response(2, redirected_from_id=1), response(3)]
    (recipe,) = read(responses, visits=[visit(main_response_id=2)])
    assert [object_.parent for object_ in recipe.objects] == [-1, 0, 1]
    assert [object_.is_document for object_ in recipe.objects] == [False, True, False]


def test_hosts_that_share_a_connection_are_one_origin(read: Read) -> None:
    shared = connection(1, protocol="h2", tls_version="TLS 1.3", port=443, tls_handshake_bytes=2500)
    responses = [response(1), response(2, host="cdn.a.test")]
    (recipe,) = read(responses, [shared])
    assert [origin.host for origin in recipe.origins] == ["a.test"]


def test_only_final_visits_that_are_ok_are_replayed_in_bytewise_order(read: Read) -> None:
    visits = [
        visit(id=1, host="b.test"),
        visit(id=2, host="B.test"),
        visit(id=3, outcome="timeout"),
        visit(id=4, is_final=False),
    ]
    connections = [connection(1, visit_id=number) for number in range(1, 5)]
    responses = [response(1, visit_id=number) for number in range(1, 5)]
    assert [recipe.page for recipe in read(responses, connections, visits)] == [
        "B.test",
        "b.test",
    ]


def test_a_release_without_a_page_to_replay_is_an_error(read: Read) -> None:
    with pytest.raises(RecipeError, match="no page that can be replayed"):
        read([], [], [visit(outcome="dns", main_response_id=None)])


def test_a_cycle_of_initiators_is_broken_so_that_every_object_is_requested() -> None:
    ring: list[Row] = [
        {"id": 1, "redirected_from_id": None, "initiator_id": None},
        {"id": 2, "redirected_from_id": None, "initiator_id": 3},
        {"id": 3, "redirected_from_id": None, "initiator_id": 2},
        {"id": 4, "redirected_from_id": None, "initiator_id": 4},
    ]
    parents = find_parents(ring, {1, 2, 3, 4}, 1)
    for start in parents:
        step: int | None = start
        steps = 0
        while step is not None:
            step = parents[step]
            steps += 1
            assert steps <= len(parents)
        assert parents[1] is None
