"""What the lab's form takes, and what it refuses before anything is replayed."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from fastapi import Request
from fastapi.testclient import TestClient
from starlette.types import Message, Receive, Send

from api.app import create_app
from api.http.problems import Problem
from api.lab.networks import offered_networks, usual_network
from api.lab.upload import MOST_BYTES, PIECE_BYTES, ROOM_BYTES, read_upload
from tests.api.lab.conftest import AS_A_BROWSER, HeldLab, give, har
from tests.api.test_v1 import assert_problem
from tests.factories.limited import time_passes

WITHIN_S = 60

BOUNDARY = "b0undary"
FORM = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
FILE_HEAD = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="har"; filename="x"\r\n\r\n'.encode()
END = f"\r\n--{BOUNDARY}--\r\n".encode()


def test_the_form_leads_to_the_page_of_the_replay(lab_client: TestClient, held: HeldLab) -> None:
    answer = give(lab_client, har())
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/lab/")
    assert answer.headers["cache-control"] == "no-store"
    assert lab_client.get(answer.headers["location"]).status_code == 200
    assert held.given == [har()]


def test_without_the_lab_every_address_says_how_the_operator_turns_it_on(tmp_path: Path) -> None:
    with TestClient(create_app(tmp_path / "releases", tmp_path / "reports")) as client:
        for answer in (client.get("/lab"), client.get("/lab/abc"), give(client, har())):
            assert_problem(answer, "lab-off", 404)
            assert "FIRSTFLIGHT_LAB=1" in answer.json()["detail"]
        assert "FIRSTFLIGHT_LAB=1" in client.get("/lab", headers=AS_A_BROWSER).text
        assert 'href="/lab"' not in client.get("/").text


def test_with_the_lab_every_page_links_to_it_and_its_form_may_be_sent(lab_client: TestClient) -> None:
    assert 'href="/lab"' in lab_client.get("/").text
    assert 'href="/lab"' in lab_client.get("/nothing", headers=AS_A_BROWSER).text
    form = lab_client.get("/lab")
    assert "form-action 'self'" in form.headers["content-security-policy"]
    assert form.headers["referrer-policy"] == "same-origin"
    assert "<script" not in form.text
    assert lab_client.head("/lab").status_code == 200


def test_a_form_without_a_file_is_refused_at_once(lab_client: TestClient, held: HeldLab) -> None:
    assert_problem(give(lab_client, b""), "not-a-recording", 422, mentions="empty")
    assert held.given == []


def test_a_refusal_is_a_page_for_people(lab_client: TestClient) -> None:
    answer = give(lab_client, b"", Accept="text/html")
    assert answer.status_code == 422
    assert answer.headers["content-type"].startswith("text/html")
    assert "No file was given, or it is empty" in answer.text


def test_a_file_of_the_largest_size_is_taken_and_one_byte_more_is_refused(
    lab_client: TestClient, held: HeldLab
) -> None:
    whole = har().ljust(MOST_BYTES)
    assert give(lab_client, whole).status_code == 303
    assert_problem(give(lab_client, whole + b" "), "too-large", 413)
    assert [len(content) for content in held.given if isinstance(content, bytes)] == [MOST_BYTES]


async def post(
    app: Any, receive: Receive, send: Send, *headers: tuple[bytes, bytes], address: str = "192.0.2.1"
) -> None:
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/lab",
        "raw_path": b"/lab",
        "client": (address, 1),
        "query_string": b"",
        "headers": [(b"content-type", FORM["Content-Type"].encode()), *headers],
    }
    await app(scope, receive, send)


def pieces_read(app: Any, *headers: tuple[bytes, bytes]) -> tuple[int, int]:
    """Status of the answer to an endless form whose file comes in pieces of a megabyte,
    and how many of them were read."""
    read = 0
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        nonlocal read
        read += 1
        body = b"x" * 1_000_000 if read > 1 else FILE_HEAD
        return {"type": "http.request", "body": body, "more_body": True}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    asyncio.run(post(app, receive, send, *headers))
    return statuses[0], read


def test_uploads_that_send_nothing_keep_nobody_out(lab_client: TestClient, held: HeldLab) -> None:
    async def silence() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def idle() -> None:
        async def ignore(message: Message) -> None:
            pass

        uploads = [
            asyncio.ensure_future(post(lab_client.app, silence, ignore, address=f"192.0.2.{number // 3}"))
            for number in range(20)
        ]
        try:
            await asyncio.sleep(0.2)
            assert not any(upload.done() for upload in uploads)
            begun.set()
            await asyncio.to_thread(answered.wait, WITHIN_S)
        finally:
            for upload in uploads:
                upload.cancel()
            await asyncio.wait(uploads)

    begun, answered = threading.Event(), threading.Event()
    assert lab_client.portal is not None
    uploading = lab_client.portal.start_task_soon(idle)
    try:
        assert begun.wait(WITHIN_S)
        assert give(lab_client, har()).status_code == 303
    finally:
        answered.set()
        uploading.result(WITHIN_S)


@pytest.mark.parametrize("piece", [b"", b"x" * 1000])
def test_an_upload_below_the_least_rate_is_ended(piece: bytes) -> None:
    counted: list[int] = []

    async def trickle() -> Message:
        await asyncio.sleep(0.02 if piece else WITHIN_S)
        return {"type": "http.request", "body": piece if counted else FILE_HEAD, "more_body": True}

    async def within() -> None:
        request = Request(
            {"type": "http", "headers": [(b"content-type", FORM["Content-Type"].encode())]}, trickle
        )
        with pytest.raises(Problem, match=r"slower than \d+ kbit/s"):
            await read_upload(request, counted.append, piece_s=0.2)

    asyncio.run(within())
    assert len(counted) <= 11


def test_an_upload_that_pauses_between_enough_bytes_is_read() -> None:
    body = FILE_HEAD + har().ljust(3 * PIECE_BYTES) + END
    pieces = [body[at : at + PIECE_BYTES] for at in range(0, len(body), PIECE_BYTES)]

    async def pieced() -> Message:
        time_passes(10)
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    async def within() -> bytes:
        request = Request(
            {"type": "http", "headers": [(b"content-type", FORM["Content-Type"].encode())]}, pieced
        )
        return (await read_upload(request, lambda _: None, piece_s=30)).content

    with pytest.raises(Problem, match="in the field network"):  # which the form lacks
        asyncio.run(within())
    assert pieces == []


def test_a_form_that_is_too_large_is_refused_while_it_arrives(lab_client: TestClient) -> None:
    app = lab_client.app
    stated = (b"content-length", str(MOST_BYTES + ROOM_BYTES + 1).encode())
    assert pieces_read(app, stated) == (413, 0)
    status, read = pieces_read(app)
    assert (status, read) == (413, 1 + MOST_BYTES // 1_000_000 + 1)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"", FORM),
        (b"no form", FORM),
        (FILE_HEAD + b"{}", FORM),
        (FILE_HEAD + b"{}" + END, {"Content-Type": "multipart/form-data"}),
        (FILE_HEAD.replace(b'name="har"; ', b"") + b"{}" + END, FORM),
        (FILE_HEAD + b"{}\r\n" + FILE_HEAD + b"{}" + END, FORM),
        (FILE_HEAD.replace(b"\r\n\r\n", b"\r\nA: " + b"a" * 1_000_000 + b"\r\n\r\n") + b"{}" + END, FORM),
        (b'{"log": {}}', {"Content-Type": "application/json"}),
        (b"network=a", {"Content-Type": "application/x-www-form-urlencoded"}),
    ],
    ids=[
        "empty",
        "no multipart",
        "cut",
        "no boundary",
        "no name",
        "two files",
        "a header of a megabyte",
        "JSON",
        "no file part",
    ],
)
def test_a_malformed_form_is_refused(
    lab_client: TestClient, held: HeldLab, body: bytes, headers: dict[str, str]
) -> None:
    answer = lab_client.post("/lab", content=body, headers=headers)
    assert answer.status_code in (400, 422), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert held.given == []


def test_networks_are_one_to_three_of_the_list(lab_client: TestClient) -> None:
    names = [network.profile.id for network in offered_networks()]
    assert usual_network() in names
    for wrong in ([], names[:4], ["elsewhere"], [names[0], "elsewhere"]):
        assert_problem(give(lab_client, har(), wrong), "bad-parameter", 400)
    for right in (names[:1], names[-3:]):
        assert give(lab_client, har(), right).status_code == 303


def test_a_field_that_the_form_has_not_is_refused(lab_client: TestClient) -> None:
    answer = lab_client.post("/lab", files={"har": har()}, data={"network": usual_network(), "iw": "99"})
    assert_problem(answer, "unknown-parameter", 400)


@pytest.mark.parametrize(
    ("headers", "is_taken"),
    [
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "null"}, True),
        ({"Origin": "https://evil.example"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": "http://testserver"}, True),
        ({}, True),
    ],
)
def test_a_form_of_another_site_is_refused(
    lab_client: TestClient, headers: dict[str, str], *, is_taken: bool
) -> None:
    answer = give(lab_client, har(), **headers)
    if is_taken:
        assert answer.status_code == 303
    else:
        assert_problem(answer, "cross-site", 403)


def test_other_methods_are_refused(lab_client: TestClient) -> None:
    assert lab_client.put("/lab").status_code == 405
    assert lab_client.post("/lab/abc").status_code == 405
    assert lab_client.post("/").status_code == 405
