"""The lab's queue: one replay at a time, few that wait, a limit of time, and results that are forgotten."""

import asyncio
import contextlib
import re
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from api.http.problems import Problem
from api.lab.page_replay import PageReplay
from api.lab.queue import (
    KEPT_S,
    MOST_EACH,
    MOST_KEPT,
    MOST_UPLOADED_BYTES,
    MOST_WAITING,
    Content,
    Job,
    Queue,
    outcome,
)
from tests.api.lab.conftest import HeldLab, give, give_queue, har
from tests.api.test_v1 import assert_problem
from tests.factories.made_up_replay import HOST, at_once, made_up_replay

WITHIN_S = 60


def until(holds: Callable[[], Any]) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


async def ended(job: Job) -> None:
    async with asyncio.timeout(WITHIN_S):
        while job.ended is None:
            await asyncio.sleep(0.001)


def add(queue: Queue, content: bytes = b"{}", *, client: str = "") -> Job:
    """Add the page of a client; without one of a client that has no other."""
    return queue.add(content, ["a"], client or secrets.token_hex())


def at(address: str, client: TestClient) -> TestClient:
    other = TestClient(client.app, client=(address, 1))
    other.portal = client.portal
    return other


def test_the_page_says_the_place_and_the_progress_and_asks_again(
    lab_client: TestClient, held: HeldLab
) -> None:
    first, second, third = (give(lab_client, har()).headers["location"] for _ in range(3))
    until(lambda: "3 of 12 loads are done" in lab_client.get(first).text)
    assert "Waiting for 1 other page" in lab_client.get(second).text
    waiting = lab_client.get(third)
    assert "Waiting for 2 other pages" in waiting.text
    assert int(waiting.headers["refresh"]) > 0
    assert waiting.headers["cache-control"] == "no-store"
    held.may_end.set()
    until(lambda: HOST in lab_client.get(third).text)
    answer = lab_client.get(third)
    assert "refresh" not in answer.headers
    assert answer.headers["cache-control"] == "no-store"
    assert len(held.given) == 3


def test_more_than_five_that_wait_are_refused_and_told_when_to_come_again(lab_client: TestClient) -> None:
    addresses = [f"192.0.2.{number}" for number in range(2 + MOST_WAITING)]
    *answers, refused = (give(at(address, lab_client), har()) for address in addresses)
    assert {answer.status_code for answer in answers} == {303}
    assert_problem(refused, "busy", 503, mentions="pages wait")
    assert int(refused.headers["retry-after"]) > 0
    assert lab_client.get("/lab").status_code == 200


def test_one_client_has_half_of_the_places_whatever_its_address_in_a_network(lab_client: TestClient) -> None:
    addresses = [f"2001:db8::{number}" for number in range(1 + MOST_EACH)]
    *answers, refused = (give(at(address, lab_client), har()) for address in addresses)
    assert {answer.status_code for answer in answers} == {303}
    assert_problem(refused, "busy", 503, mentions="of yours")
    assert give(at("2001:db8:1::1", lab_client), har()).status_code == 303


def test_uploads_hold_no_place_and_share_room() -> None:
    queue = Queue(at_once)
    with contextlib.ExitStack() as stack:
        counts = [stack.enter_context(queue.upload(str(number))) for number in range(4 * MOST_WAITING)]
        counts[0](MOST_UPLOADED_BYTES)
        with pytest.raises(Problem, match="too many files are being uploaded"):
            counts[1](1)
    with contextlib.ExitStack() as stack:
        for _ in range(MOST_EACH):
            stack.enter_context(queue.upload("a"))
        with pytest.raises(Problem, match="too many files are being uploaded"), queue.upload("a"):
            pass
        stack.enter_context(queue.upload("b"))
    with queue.upload("a") as count:
        count(MOST_UPLOADED_BYTES)


def test_a_place_that_was_taken_during_an_upload_is_refused_at_its_end() -> None:
    async def within() -> None:
        queue = Queue(HeldLab().replay)
        with queue.upload("a"):
            for _ in range(1 + MOST_WAITING):
                add(queue)
            with pytest.raises(Problem, match="wait for the lab already"):
                add(queue)
        with pytest.raises(Problem, match="wait for the lab already"), queue.upload("a"):
            pass
        await queue.close()

    asyncio.run(within())


def test_one_page_is_replayed_at_a_time_in_the_order_of_arrival() -> None:
    at_work: list[Content] = []
    order: list[Content] = []

    async def replay(
        content: Content, networks: Sequence[str], _told: Callable[[int, int], None]
    ) -> PageReplay:
        at_work.append(content)
        assert at_work == [content]
        await asyncio.sleep(0)
        order.append(at_work.pop())
        return made_up_replay(networks)

    async def work() -> None:
        queue = Queue(replay)
        jobs = [add(queue, bytes([number])) for number in range(MOST_WAITING)]
        for job in jobs:
            await ended(job)
            assert outcome(job)

    asyncio.run(work())
    assert order == [bytes([number]) for number in range(MOST_WAITING)]


def test_a_replay_that_takes_too_long_is_given_up_and_the_next_one_begins(held: HeldLab) -> None:
    async def work() -> None:
        queue = Queue(held.replay, limit_s=0.05)
        first, second = add(queue), add(queue)
        await ended(first)
        with pytest.raises(Problem, match="took longer than 0 s: choose fewer") as caught:
            outcome(first)
        assert caught.value.kind.id == "replay-too-long"
        held.may_end.set()
        await ended(second)
        assert outcome(second)

    asyncio.run(work())
    assert held.cancelled == 1


def test_what_a_page_was_refused_for_is_its_answer_as_often_as_it_is_asked(lab_client: TestClient) -> None:
    async def refuse(*_given: Any) -> PageReplay:
        raise Problem("not-a-recording", "the file is no HAR: it is not JSON")

    assert isinstance(lab_client.app, FastAPI)
    give_queue(lab_client.app, Queue(refuse))
    where = give(lab_client, har()).headers["location"]
    until(lambda: lab_client.get(where).status_code != 200)
    for _ in range(2):
        assert_problem(lab_client.get(where), "not-a-recording", 422)
    assert (
        "The file is no HAR: it is not JSON." in lab_client.get(where, headers={"Accept": "text/html"}).text
    )


def test_a_fault_of_the_lab_is_an_answer_too_and_the_queue_goes_on() -> None:
    async def fail(*_given: Any) -> PageReplay:
        raise ZeroDivisionError

    async def work() -> None:
        queue = Queue(fail)
        for job in [add(queue), add(queue)]:
            await ended(job)
            with pytest.raises(Problem) as caught:
                outcome(job)
            assert caught.value.kind.id == "replay-failed"

    loop_errors: list[Any] = []
    with asyncio.Runner() as runner:
        runner.get_loop().set_exception_handler(lambda _loop, facts: loop_errors.append(facts))
        runner.run(work())


def test_the_file_is_forgotten_at_the_end_and_the_result_after_a_while() -> None:
    now = 0.0

    async def work() -> None:
        nonlocal now
        queue = Queue(at_once, clock=lambda: now)
        job = add(queue, b"private")
        await ended(job)
        assert job.content == b""
        now = KEPT_S
        assert queue.find(job.id) is job
        now = KEPT_S + 1
        with pytest.raises(Problem, match="kept for 15 minutes"):
            queue.find(job.id)

    asyncio.run(work())


def test_more_results_than_are_kept_push_the_oldest_out() -> None:
    async def work() -> None:
        queue = Queue(at_once)
        jobs = []
        for _ in range(MOST_KEPT + 1):
            jobs.append(add(queue))
            await ended(jobs[-1])
        with pytest.raises(Problem):
            queue.find(jobs[0].id)
        assert queue.find(jobs[1].id) is jobs[1]

    asyncio.run(work())


def test_the_end_of_the_service_ends_the_replay(held: HeldLab) -> None:
    async def work() -> None:
        queue = Queue(held.replay)
        add(queue)
        add(queue)
        while not held.given:
            await asyncio.sleep(0)
        await queue.close()

    asyncio.run(work())
    assert (len(held.given), held.cancelled) == (1, 1)


def test_names_of_results_cannot_be_guessed(lab_client: TestClient) -> None:
    names = {give(lab_client, har()).headers["location"] for _ in range(3)}
    assert all(re.fullmatch(r"/lab/[\w-]{22}", name) for name in names)
    assert len(names) == 3
    for name in ("nothing", "%FF", "a" * 5000):
        assert_problem(lab_client.get(f"/lab/{name}"), "no-such-replay", 404)


def test_the_service_answers_while_a_page_is_replayed(lab_client: TestClient, held: HeldLab) -> None:
    give(lab_client, har())
    until(lambda: held.given)
    assert lab_client.get("/v1/crawls").status_code == 200
    assert threading.active_count() < 100
