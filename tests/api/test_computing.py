"""Computations are shared, take turns among clients, have a limit of time, and end when nobody waits."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import duckdb
import pytest
from fastapi.concurrency import run_in_threadpool

from api.computing import Computations, current, in_turn
from api.http.clients import Quota
from api.http.problems import Problem
from api.stored.open_releases import raise_damage
from tests.factories.limited import time_passes

WITHIN_S = 60
SHORT_S = 0.3

Work = Callable[[], Awaitable[str]]


class Asker:
    """Clients that ask for computations, and may leave."""

    def __init__(self, *, at_once: int = 2, limit_s: float = WITHIN_S) -> None:
        self.computations: Computations[str] = Computations(at_once=at_once, limit_s=limit_s)
        self.begun: list[str] = []
        self.may_end = asyncio.Event()

    def ask(
        self, client: str, key: str, work: Work | None = None
    ) -> tuple[asyncio.Task[str | None], Callable[[], None]]:
        """The answer to a client, and what makes the client leave."""
        left = asyncio.Event()

        async def leave() -> None:
            await left.wait()

        async def join() -> str | None:
            leaving = asyncio.create_task(leave())
            try:
                return await self.computations.join(
                    key, work or self.held(key), client=client, leaving=leaving
                )
            finally:
                leaving.cancel()

        return asyncio.create_task(join()), left.set

    def held(self, key: str) -> Work:
        async def work() -> str:
            self.begun.append(key)
            while not self.may_end.is_set():
                await asyncio.sleep(0.001)
                current().check()
            return key

        return in_turn(work)

    async def until_begun(self, *keys: str) -> None:
        """Wait until the computations with these keys have begun, and give others time to begin too."""
        async with asyncio.timeout(WITHIN_S):
            while len(self.begun) < len(keys):
                await asyncio.sleep(0.001)
        await asyncio.sleep(0.02)
        assert self.begun == list(keys)


def search() -> str:
    with (
        raise_damage("numbers"),
        duckdb.connect(config={"threads": 1}) as database,
        current().interruptible(database.interrupt),
    ):
        database.execute("SELECT count(*) FROM range(1000000000000) AS numbers(n) WHERE n % 7 = 8")
    return "found"


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, WITHIN_S))


def test_equal_questions_are_computed_once_and_the_first_who_leaves_ends_nothing() -> None:
    async def work() -> None:
        asker = Asker()
        first, leave = asker.ask("a", "same")
        others = [asker.ask(client, "same")[0] for client in "ab"]
        await asker.until_begun("same")
        leave()
        assert await first is None
        asker.may_end.set()
        assert await asyncio.gather(*others) == ["same", "same"]
        assert asker.begun == ["same"]

    run(work())


def test_a_query_that_nobody_waits_for_is_interrupted_and_its_turn_is_another_s() -> None:
    async def work() -> None:
        asker = Asker(at_once=1)
        searching, leave = asker.ask("a", "search", in_turn(search))
        await asyncio.sleep(SHORT_S)
        following, _ = asker.ask("b", "following")
        await asyncio.sleep(SHORT_S)
        assert asker.begun == []
        leave()
        assert await searching is None
        await asker.until_begun("following")
        asker.may_end.set()
        assert await following == "following"

    run(work())


def test_who_asks_again_what_was_left_gets_an_answer() -> None:
    async def work() -> None:
        asker = Asker(at_once=1)
        left, leave = asker.ask("a", "same", in_turn(search))
        await asyncio.sleep(SHORT_S)
        leave()
        await left
        asker.may_end.set()
        again, _ = asker.ask("a", "same")
        assert await again == "same"

    run(work())


def test_a_query_that_takes_too_long_is_a_problem_that_says_what_to_do() -> None:
    async def work() -> None:
        asker = Asker(limit_s=SHORT_S)
        searching, _ = asker.ask("a", "search", in_turn(search))
        with pytest.raises(
            Problem, match=r"more than 0.3 s of computing: ask for fewer .* or download"
        ) as caught:
            await searching
        assert (caught.value.kind.id, caught.value.kind.status) == ("too-costly", 503)

    run(work())


def test_time_in_the_queue_does_not_count() -> None:
    async def work() -> None:
        asker = Asker(at_once=1, limit_s=20)
        first, leave = asker.ask("a", "first")
        await asker.until_begun("first")
        second, _ = asker.ask("b", "second")
        await asyncio.sleep(SHORT_S)
        time_passes(15)
        leave()
        await asker.until_begun("first", "second")
        time_passes(10)
        await asyncio.sleep(SHORT_S)
        asker.may_end.set()
        assert await first is None
        assert await second == "second"

    run(work())


def test_what_takes_its_stop_for_a_fact_is_no_answer() -> None:
    async def work() -> None:
        async def swallow() -> str:
            with contextlib.suppress(Exception):
                await run_in_threadpool(search)
            return "unknown"

        asker = Asker(limit_s=SHORT_S)
        with pytest.raises(Problem, match=r"more than 0.3 s"):
            await asker.ask("a", "search", in_turn(swallow))[0]

    run(work())


def test_one_client_computes_one_at_a_time_and_another_at_once() -> None:
    async def work() -> None:
        asker = Asker()
        for number in range(5):
            asker.ask("a", f"a{number}")
        await asker.until_begun("a0")
        asker.ask("b", "b0")
        await asker.until_begun("a0", "b0")

    run(work())


def test_clients_take_turns() -> None:
    async def work() -> None:
        asker = Asker(at_once=1)
        leave = {key: asker.ask(key[0], key)[1] for key in ("a0", "a1", "a2", "b0", "b1", "c0")}
        turns = ("a0", "b0", "c0", "a1", "b1", "a2")
        for number, key in enumerate(turns, start=1):
            await asker.until_begun(*turns[:number])
            leave[key]()

    run(work())


def test_who_waits_for_the_question_of_a_busy_client_has_it_in_its_own_turn() -> None:
    async def work() -> None:
        asker = Asker()
        for key in ("a0", "a1", "a2"):
            asker.ask("a", key)
        await asker.until_begun("a0")
        asker.ask("b", "a2")
        await asker.until_begun("a0", "a2")

    run(work())


def test_a_query_that_takes_too_much_memory_is_a_problem_and_no_damage() -> None:
    def gather() -> str:
        with (
            contextlib.closing(
                duckdb.connect(config={"memory_limit": "16MB", "temp_directory": ""})
            ) as database,
            raise_damage("numbers"),
        ):
            database.execute("SELECT list(number) FROM range(100000000) AS numbers(number)")
        return "found"

    async def work() -> None:
        with pytest.raises(Problem, match=r"more memory than .*: ask for fewer") as caught:
            await Asker().ask("a", "memory", in_turn(gather))[0]
        assert caught.value.kind.id == "too-costly"

    run(work())


def test_a_failure_of_work_is_everybody_s() -> None:
    async def work() -> None:
        async def fail() -> str:
            raise Problem("no-such-file", "there is no file")

        asker = Asker()
        for answer in [asker.ask(client, "same", fail)[0] for client in "ab"]:
            with pytest.raises(Problem, match="no file"):
                await answer

    run(work())


def test_places_are_shared_among_clients() -> None:
    places = Quota(3, 2, lambda: Problem("busy", "none is left"))
    with contextlib.ExitStack() as stack:
        for client in "aab":
            stack.enter_context(places.take(client))
        for client in "ac":
            with pytest.raises(Problem, match="none is left"):
                stack.enter_context(places.take(client))
    with places.take("a"), places.take("a"), pytest.raises(Problem), places.take("a"):
        pass
