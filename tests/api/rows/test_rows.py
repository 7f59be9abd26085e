"""Rows of a release as JSON, NDJSON, CSV, Arrow and Parquet,
held against the rows that the release was made of."""

import base64
import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from api.http.problems import Problem
from api.rows.cursors import cursor_of, key_of
from api.rows.filters import parameters
from api.rows.query import TABLES
from tests.api.conftest import serving
from tests.api.rows.conftest import CRAWL, NAME, made_up, write_crawl
from tests.api.test_v1 import assert_problem

Row = dict[str, Any]
EVERY = made_up().rows()
RESPONSES = EVERY["response"]

LINES: dict[str, Callable[[bytes], list[Row]]] = {
    "ndjson": lambda content: [json.loads(line) for line in content.splitlines()],
    "csv": lambda content: list(csv.DictReader(io.StringIO(content.decode()))),
    "arrow": lambda content: pa.ipc.open_stream(content).read_all().to_pylist(),
    "parquet": lambda content: pq.read_table(io.BytesIO(content)).to_pylist(),
}
"""Readers of the bulk formats, each of another library than ours where there is one."""


def get(client: TestClient, path: str, /, **parameters: Any) -> httpx2.Response:
    response = client.get(path, params={"crawl": CRAWL, **parameters})
    assert response.status_code == 200, response.text
    return response


def rows(client: TestClient, table: str = "responses", **parameters: Any) -> list[Row]:
    answered: list[Row] = get(client, f"/v1/{table}", **{"limit": 10_000, **parameters}).json()["rows"]
    return answered


def pick(answered: list[Row], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in answered]


@pytest.mark.parametrize("table", TABLES)
def test_every_row_of_a_table_is_answered_with_every_column_in_the_order_of_its_key(
    client: TestClient, table: str
) -> None:
    expected = EVERY[TABLES[table].name]
    answered = rows(client, table)
    times = {"started_at", "ended_at"}
    assert [{k: v for k, v in row.items() if k not in times} for row in answered] == [
        {k: v for k, v in row.items() if k not in times} for row in expected
    ]
    if table == "visits":
        assert answered[0]["started_at"] == "2026-11-01T12:00:01.000000Z"


def test_responses_are_filtered_by_what_their_size_rests_on(client: TestClient) -> None:
    sized = [response for response in RESPONSES if response["wire_bytes"] is not None]
    assert len(rows(client, "responses", size_basis="counted")) == len(sized) > 0
    assert rows(client, "responses", size_basis=["stated", "derived"]) == []
    answer = client.get("/v1/visits", params={"crawl": CRAWL, "outcome": "nonsense"})
    assert_problem(answer, "no-such-choice", 422, mentions="ok, http_error, timeout")


@pytest.mark.parametrize("suffix", LINES)
def test_a_bulk_format_has_every_row_with_the_same_values(client: TestClient, suffix: str) -> None:
    names = ("visit_id", "id", "host", "wire_bytes", "wire_bytes_unknown")
    response = get(client, f"/v1/responses.{suffix}", fields=",".join(names))
    answered = LINES[suffix](response.content)
    unknown = "" if suffix == "csv" else None
    text = str if suffix == "csv" else (lambda value: value)
    assert pick(answered, *names) == [
        tuple(unknown if value is None else text(value) for value in row) for row in pick(RESPONSES, *names)
    ]
    assert f"{CRAWL}.v1.response.{suffix}" in response.headers["content-disposition"]


def test_the_schema_of_arrow_and_parquet_has_types_and_definitions_of_the_dictionary(
    client: TestClient,
) -> None:
    declared = TABLES["connections"].schema()
    arrow = pa.ipc.open_stream(get(client, "/v1/connections.arrow").content).schema
    parquet = pq.read_schema(io.BytesIO(get(client, "/v1/connections.parquet").content))
    for schema in (arrow, parquet):
        assert [(f.name, f.type) for f in schema] == [(f.name, f.type) for f in declared]
        assert (
            schema.field("first_flight_bytes").metadata[b"comment"]
            == declared.field("first_flight_bytes").metadata[b"comment"]
        )


def test_a_text_with_separators_quotes_and_line_ends_survives_every_format(tmp_path: Path) -> None:
    tables = made_up()
    hostile = 'a,b"c\r\n=d\u2028\u202e\\'
    tables.response[0]["path"] = hostile
    write_crawl(tmp_path, NAME, tables)
    with serving(tmp_path) as client:
        contents = {
            suffix: get(client, f"/v1/responses.{suffix}", fields="path", path=hostile).content
            for suffix in LINES
        }
    for suffix, content in contents.items():
        if suffix == "csv":  # the line ends within the quotes are kept only by a reader that is told so
            assert list(csv.reader(io.StringIO(content.decode(), newline=""))) == [["path"], [hostile]]
        else:
            assert LINES[suffix](content) == [{"path": hostile}]


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ({"id": 2}, lambda row: row["id"] == 2),
        ({"id": [1, 5]}, lambda row: row["id"] in (1, 5)),
        ({"host": ["site3.test", "none.test"]}, lambda row: row["host"] == "site3.test"),
        ({"wire_bytes_at_least": 14_605}, lambda row: (row["wire_bytes"] or 0) >= 14_605),
        ({"wire_bytes_at_most": 500}, lambda row: row["wire_bytes"] is not None and row["wire_bytes"] <= 500),
        ({"wire_bytes_is_null": "true"}, lambda row: row["wire_bytes"] is None),
        ({"wire_bytes_is_null": "false"}, lambda row: row["wire_bytes"] is not None),
        ({"from_cache": "true"}, lambda row: row["from_cache"]),
        ({"visit_id": 4, "wire_bytes_at_least": 1000}, lambda row: row["visit_id"] == 4 and (row["wire_bytes"] or 0) >= 1000),  # noqa: E501
        ({"host": "'; DROP TABLE response; --"}, lambda row: False),
    ],
)  # fmt: skip
def test_a_filter_keeps_the_rows_that_meet_it_and_no_others(
    client: TestClient, asked: Row, kept: Callable[[Row], bool]
) -> None:
    expected = [row for row in RESPONSES if kept(row)]
    assert pick(rows(client, **asked), "visit_id", "id") == pick(expected, "visit_id", "id")


def test_a_time_is_a_filter_with_its_zone(client: TestClient) -> None:
    asked = {"started_at_at_least": "2026-11-01T13:00:11+01:00", "fields": "id"}
    assert [row["id"] for row in rows(client, "visits", **asked)] == [11, 12]


def test_pages_follow_one_another_until_next_is_null_and_miss_no_row(client: TestClient) -> None:
    url, seen = f"/v1/responses?crawl={CRAWL}&limit=7&wire_bytes_is_null=false", []
    while url:
        response = client.get(url)
        page = response.json()
        seen.append(pick(page["rows"], "visit_id", "id"))
        assert (f'<{page["next"]}>; rel="next"' in response.headers["link"]) is (page["next"] is not None)
        url = page["next"]
    expected = pick([row for row in RESPONSES if row["wire_bytes"] is not None], "visit_id", "id")
    assert [key for page in seen for key in page] == expected
    assert [len(page) for page in seen] == [7, 7, 7, 7, 7, 1]


def test_next_is_absolute_where_the_service_has_a_base_url_and_names_the_version(releases: Path) -> None:
    with serving(releases, base_url="https://sizes.test") as client:
        client.base_url = httpx2.URL("https://sizes.test")
        following = get(client, "/v1/visits", limit=1).json()["next"]
    assert following.startswith("https://sizes.test/v1/visits?")
    assert "version=1" in following


@pytest.mark.parametrize("suffix", LINES)
def test_a_page_of_a_bulk_format_has_its_next_in_the_header(client: TestClient, suffix: str) -> None:
    first = get(client, f"/v1/visits.{suffix}", limit=10, fields="id")
    second = client.get(first.links["next"]["url"])
    answered = [str(row["id"]) for page in (first, second) for row in LINES[suffix](page.content)]
    assert answered == [str(row["id"]) for row in EVERY["visit"]]
    assert "next" not in second.links


def test_a_cursor_of_another_question_or_release_is_refused(releases: Path) -> None:
    with serving(releases) as client:
        check_cursors(client, releases)


def check_cursors(client: TestClient, releases: Path) -> None:
    cursor = get(client, "/v1/responses", limit=1, id=1).json()["next"].rpartition("cursor=")[2]
    tables = made_up()
    tables.response[0]["status"] = 404
    write_crawl(releases, NAME, tables, version=2)
    for path in (
        f"/v1/responses?version=1&cursor={cursor}",
        f"/v1/responses?version=1&id=2&cursor={cursor}",
        f"/v1/responses?version=2&id=1&cursor={cursor}",
        f"/v1/connections?version=1&id=1&cursor={cursor}",
        f"/v1/visits?version=1&id=1&cursor={cursor}",
    ):
        assert_problem(client.get(f"{path}&crawl={CRAWL}"), "bad-parameter", 400, mentions="cursor")
    good = client.get(f"/v1/responses?version=1&id=1&cursor={cursor}&crawl={CRAWL}")
    assert good.json()["rows"][0]["visit_id"] == 2


@given(st.tuples(st.integers(0, 2**63 - 1), st.integers(0, 2**31 - 1)), st.data())
def test_a_cursor_gives_its_key_back_and_no_changed_one_does(
    key: tuple[int, int], data: st.DataObject
) -> None:
    cursor = cursor_of(key, bound_to=["a"])
    assert key_of(cursor, parts=2, bound_to=["a"]) == key
    place = data.draw(st.integers(0, len(cursor) - 1))
    changed = (
        cursor[:place] + data.draw(st.characters(exclude_characters=cursor[place])) + cursor[place + 1 :]
    )
    for forged in (changed, cursor[:-1], cursor + "A", cursor + "=", ""):
        with pytest.raises(Problem, match="cursor"):
            key_of(forged, parts=2, bound_to=["a"])


@given(
    st.text(max_size=200) | st.binary(max_size=150).map(lambda raw: base64.urlsafe_b64encode(raw).decode())
)
def test_no_made_up_cursor_is_taken(cursor: str) -> None:
    with pytest.raises(Problem, match="cursor"):
        key_of(cursor, parts=2, bound_to=["a"])


@pytest.mark.parametrize(
    ("query", "kind", "mentions"),
    [
        ("fields=bytes", "no-such-choice", "there are"),
        ("fields=id,id", "bad-parameter", "twice"),
        ("fields=", "bad-parameter", "at least 1"),
        ("limit=0", "bad-parameter", "limit"),
        ("limit=10001", "bad-parameter", "limit"),
        ("status=ok", "bad-parameter", "status"),
        ("status=40000", "bad-parameter", "status"),
        ("id=99999999999999999999", "bad-parameter", "id"),
        ("host=" + "x" * 2049, "bad-parameter", "host"),
        ("&".join(f"id={n}" for n in range(101)), "bad-parameter", "id"),
        ("wire_bytes_at_least=1&wire_bytes_at_least=2", "bad-parameter", "more than once"),
        ("wire_bytes__gte=1", "unknown-parameter", "wire_bytes__gte"),
        ("host_at_least=a", "unknown-parameter", "host_at_least"),
        ("cursor=" + "A" * 201, "bad-parameter", "cursor"),
        ("version=2", "no-such-crawl", "version 2"),
        ("size_basis=nonsense", "no-such-choice", "counted, stated, derived"),
        (
            "protocol=h2&protocol=http/1.2",
            "no-such-choice",
            "protocol: no such value; there are http/1.1, h2, h3",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_bad_parameter_is_a_problem_that_names_it(
    client: TestClient, query: str, kind: str, mentions: str
) -> None:
    status = {"no-such-crawl": 404, "no-such-choice": 422}.get(kind, 400)
    for path in ("/v1/responses", "/v1/responses.csv"):
        assert_problem(client.get(f"{path}?crawl={CRAWL}&{query}"), kind, status, mentions=mentions)


def test_every_answer_has_an_etag_by_which_it_is_not_sent_again(client: TestClient) -> None:
    tags = set()
    for suffix in ("json", *LINES):
        response = get(client, f"/v1/responses.{suffix}", fields="id")
        tags.add(response.headers["etag"])
        again = client.get(response.url, headers={"If-None-Match": response.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    assert len(tags) == 1 + len(LINES)


@pytest.mark.parametrize("suffix", ["json", *LINES])
def test_head_is_get_without_the_body(client: TestClient, suffix: str) -> None:
    path = f"/v1/responses.{suffix}?crawl={CRAWL}"
    head, got = client.head(path), client.get(path)
    assert (head.status_code, head.content) == (200, b"")
    assert dict(head.headers) == dict(got.headers)


def test_no_column_has_the_name_of_a_parameter_or_of_another_columns_filter() -> None:
    for table in TABLES.values():
        names = [parameter.name for parameter in parameters(table.schema()).values()]
        assert len(names) == len(set(names))
        assert not {"crawl", "version", "fields", "limit", "cursor", "suffix"} & set(names)
        assert set(names) & {f"{name}_is_null" for name in table.schema().names}
