"""The program that replays a page: what it refuses, and that nothing of it stays."""

import asyncio
import gzip
import io
import mmap
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from api.http.problems import Problem
from api.lab.networks import usual_network
from api.lab.process import replay_in_process
from api.lab.program import (
    MOST_ENTRIES,
    MOST_MEMORY_BYTES,
    MOST_PAGE_BYTES,
    MOST_RESPONSES,
    Refused,
    address,
    bounded_memory,
    read_page,
    read_released,
)
from api.lab.upload import MOST_BYTES
from releases.catalogue import read_release
from replay.lab import kernel, player
from replay.recipes.page_recipe import read_recipes
from tests.api.lab.conftest import har
from tests.factories.made_up_recording import DOCUMENT, STYLE, UNKNOWN, entry

WITHIN_S = 120
READ_WITHIN_S = 10
"""Processor time in which a file is read or refused."""

LAZY = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
"""Memory that is only taken as it is written to."""


def changed(**fields: Any) -> bytes:
    """A HAR whose document has these fields of the response."""
    return har({**DOCUMENT, "response": {**DOCUMENT["response"], **fields}})


def images(count: int) -> list[dict[str, Any]]:
    return [entry(f"https://a.example/{number}.png", mime="image/png") for number in range(count)]


def zipped(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("page.har", content)
    return packed.getvalue()


def parquet_bomb() -> bytes:
    """A Parquet file of some kilobytes with a million rows of a megabyte each."""
    texts = pa.DictionaryArray.from_arrays(np.zeros(1_000_000, np.int32), ["a" * 1_000_000])
    packed = io.BytesIO()
    pq.write_table(pa.table({"text": texts}), packed, write_statistics=False)
    assert len(packed.getvalue()) < 100_000
    return packed.getvalue()


CONTAINERS: dict[str, Callable[[bytes], bytes]] = {
    "none": bytes,
    "gzip": gzip.compress,
    "zip": zipped,
    "UTF-16": lambda content: content.decode().encode("utf-16"),
}


@pytest.mark.parametrize("pack", CONTAINERS.values(), ids=CONTAINERS)
def test_the_page_of_a_har_is_read_from_any_container(pack: Callable[[bytes], bytes]) -> None:
    page = read_page(pack(har(DOCUMENT, STYLE, UNKNOWN)))
    asked = [item["request"]["url"] for item in (DOCUMENT, STYLE, UNKNOWN)]
    assert [*page.addresses.values()] == [*map(address, asked)]
    assert (len(page.recipe.objects), page.recipe.left_out) == (2, 1)


def test_of_a_tab_that_went_elsewhere_the_first_page_load_is_replayed() -> None:
    top = {"_resourceType": "document", "_frameref": "1"}
    later = {**entry("https://b.example/", at="2026-11-01T12:00:10.000Z"), **top}
    page = read_page(har({**DOCUMENT, **top}, STYLE, later))
    assert (len(page.recipe.objects), page.later_requests) == (2, 1)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (parquet_bomb(), "a Parquet file"),
        (b"\x28\xb5\x2f\xfd", "a zstd file"),
        (b"<html>", "not JSON"),
        (b"[1, 2]", "no HAR"),
        (b"\0" * 1000, "not JSON"),
        (b"{", "not JSON"),
        (b"{\xff}", "not JSON"),
        (b'{"traceEvents": []}', "a trace of Chrome"),
        (b'{"log": ' + b"[" * 100_000, "nested too deeply"),
        (b"{}", "no HAR"),
        (b'{"log": []}', "no HAR"),
        (b'{"log": {"creator": {"name": "a"}, "entries": []}}', "no request by HTTP"),
        (har({"request": {}}), "malformed"),
        (changed(bodySize=10**30), "malformed response.bodySize"),
        (changed(bodySize=int("9" * 4000)), "malformed response.bodySize"),
        (har().replace(b"20000", b"9" * 5000), "not JSON"),
        (changed(bodySize=1e400), "no size of its main document"),
        (changed(status=10**20), "malformed response.status"),
        (changed(bodySize="x"), "malformed response.bodySize"),
        (har(UNKNOWN), "no size of its main document"),
        (changed(bodySize=MOST_PAGE_BYTES), "100 MB"),
        (har(DOCUMENT, *images(MOST_RESPONSES)), "1,001 responses"),
        (har(*[DOCUMENT] * (MOST_ENTRIES + 1)), "too many entries"),
        (b'{"log": ' + b"[" * 15_000_000, "too many entries"),
    ],
    ids=lambda item: str(item)[:24],
)
def test_what_cannot_be_replayed_is_refused_in_a_sentence(content: bytes, said: str) -> None:
    with pytest.raises(Refused, match=said) as caught:
        read_page(content)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


TINY_VALUES: dict[str, Callable[[], bytes]] = {
    "entries": lambda: har()[:-3] + b",{}" * 6_000_000 + b"]}}",
    "numbers": lambda: har()[:-3] + b",0" * 9_000_000 + b"]}}",
    "header fields": lambda: changed(headers=[]).replace(b"[]", b"[" + b"{}," * 6_000_000 + b"{}]", 1),
    "lines": lambda: b"0\n" * 9_000_000 + b"x",
}


@pytest.mark.parametrize("make", TINY_VALUES.values(), ids=TINY_VALUES)
def test_a_file_of_very_many_tiny_values_is_refused_before_they_are_read(make: Callable[[], bytes]) -> None:
    content = make()
    assert len(content) < MOST_BYTES
    began = time.process_time()
    with pytest.raises(Refused, match="too many entries"):
        read_page(content)
    assert time.process_time() - began < READ_WITHIN_S


def test_a_header_of_very_many_fields_of_one_name_is_read_in_time() -> None:
    fields = b'{"name": "a"},' * 400_000
    began = time.process_time()
    page = read_page(changed(headers=[]).replace(b"[]", b"[" + fields + b'{"name": "b"}]', 1))
    assert len(page.addresses) == 1
    assert time.process_time() - began < READ_WITHIN_S


@pytest.mark.process
def test_the_program_ends_by_the_signal_itself_while_it_reads_the_file(tmp_path: Path) -> None:
    """A handler of Python's would wait for the call that parses the file."""
    call = [sys.executable, "-m", "api.lab.program", str(tmp_path), usual_network()]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
        assert program.stdin is not None
        # More than a pipe holds: once it is written, the program reads.
        program.stdin.write(b" " * 200_000)
        program.terminate()
        assert program.wait(WITHIN_S) == -signal.SIGTERM


def test_the_memory_of_reading_is_bounded_and_that_of_the_guest_is_not() -> None:
    with pytest.raises(OSError, match="Cannot allocate memory"), bounded_memory():
        mmap.mmap(-1, 2 * MOST_MEMORY_BYTES, flags=LAZY)
    with mmap.mmap(-1, 2 * MOST_MEMORY_BYTES, flags=LAZY) as taken:
        assert len(taken) == 2 * MOST_MEMORY_BYTES


@pytest.fixture
def hanging_lab(tmp_path: Path) -> Path:
    """A cache whose kernel writes its number and its folder into files, and then never ends."""
    path = kernel.kernel_path(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text(
        f'#!/bin/sh\necho "$TMPDIR" > {tmp_path}/folder\necho $$ > {tmp_path}/pid\nexec sleep 3600\n'
    )
    path.chmod(0o755)
    program = player.player_path(tmp_path)
    program.parent.mkdir(parents=True)
    program.touch()
    return tmp_path


def is_alive(pid: int) -> bool:
    """True if a process is there that is not only waiting to be reaped."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


async def begun(cache: Path) -> tuple[int, Path]:
    """Number and folder of the guest, as soon as it runs."""
    async with asyncio.timeout(WITHIN_S):
        while not (cache / "pid").exists() or not (cache / "pid").read_text().endswith("\n"):
            await asyncio.sleep(0.02)
    return int((cache / "pid").read_text()), Path((cache / "folder").read_text().strip())


@pytest.mark.process
def test_a_replay_that_is_given_up_leaves_neither_a_process_nor_a_file(hanging_lab: Path) -> None:
    async def work() -> tuple[int, Path]:
        replaying = asyncio.create_task(
            replay_in_process(hanging_lab, har(), [usual_network()], lambda _done, _planned: None)
        )
        pid, folder = await begun(hanging_lab)
        assert folder.is_dir()
        assert "a.example" not in "".join(path.read_text() for path in folder.iterdir() if path.is_file())
        replaying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await replaying
        return pid, folder

    pid, folder = asyncio.run(work())
    assert not folder.exists()
    assert not is_alive(pid)


def without_a_lab(cache: Path) -> Path:
    """A cache whose kernel and player are programs that end at once."""
    for path in (kernel.kernel_path(cache), player.player_path(cache)):
        path.parent.mkdir(parents=True)
        path.symlink_to("/bin/false")
    return cache


@pytest.mark.process
def test_a_lab_that_is_not_built_yet_asks_to_try_again(tmp_path: Path) -> None:
    async def work() -> None:
        await replay_in_process(tmp_path, har(), [usual_network()], lambda _done, _planned: None)

    with pytest.raises(Problem) as caught:
        asyncio.run(work())
    assert caught.value.kind.id == "busy"
    assert "the lab's kernel is not built yet" in (caught.value.detail or "")


@pytest.mark.process
def test_a_program_that_fails_is_an_answer_without_names(tmp_path: Path) -> None:
    """The kernel in the folder is none, and the message that says so has its path."""

    async def work() -> None:
        cache = without_a_lab(tmp_path)
        await replay_in_process(cache, har(), [usual_network()], lambda _done, _planned: None)

    with pytest.raises(Problem) as caught:
        asyncio.run(work())
    assert caught.value.kind.id == "replay-failed"
    assert str(tmp_path) not in caught.value.detail


@pytest.mark.process
def test_a_hostile_file_is_refused_by_the_program_too(tmp_path: Path) -> None:
    async def work() -> None:
        deep = b'{"log": ' + b"[" * 900_000
        cache = without_a_lab(tmp_path)
        await replay_in_process(cache, deep, [usual_network()], lambda _done, _planned: None)

    with pytest.raises(Problem, match="nested too deeply"):
        asyncio.run(work())


STORED = Path(__file__).parents[2] / "releases" / "stored" / "schema-1"


def test_a_page_load_of_a_release_has_the_recipe_of_its_replays_and_addresses() -> None:
    for recipe in read_recipes(read_release(STORED)):
        page = read_released(STORED, recipe.visit_id)
        assert page.recipe == recipe
        assert {each.response_id for each in recipe.objects} <= page.addresses.keys()
        assert page.addresses[recipe.objects[0].response_id].endswith(f"//{recipe.page}/")
    with pytest.raises(Refused, match="too little"):
        read_released(STORED, 999)
