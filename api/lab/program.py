"""The program that replays one page: python -m api.lab.program [--released FOLDER VISIT] CACHE NETWORK...
with a HAR file on standard input, or the folder of a release and the number of a visit.

It is a process of its own, so that reading a hostile file and the guest's work neither delay the service nor
outlive it. It writes no file but the guest's own, which has numbers alone and is removed at the end, also on
SIGTERM. Each line of its output is a `page_replay.Message`.
"""

import contextlib
import dataclasses
import resource
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from api.lab.networks import choose
from api.lab.page_replay import (
    LINE,
    RELEASED,
    SEEDS,
    TIMES,
    WINDOWS,
    Loads,
    Message,
    PageReplay,
    PageResponse,
)
from recordings.exchange import RecordingError
from recordings.reading import HAR, find_load, read_content
from releases.catalogue import Release, read_release
from replay.errors import ReplayError
from replay.lab import guest_process
from replay.lab.guest_process import Lab
from replay.networks.profiles import Profile
from replay.recipes.page_recipe import Recipe, assume_think_times, baseline_of, drop_delays, make_recipe
from replay.recipes.recorded import recipe_of
from replay.runs.cells import Cell, make_cells
from replay.runs.conditions import PLAIN
from replay.runs.guests import guest_for
from replay.runs.policy import Policy, at_once
from replay.runs.responses import of_load
from replay.runs.run import check_calibrations, judge_cells

MOST_MEMORY_BYTES = 2**30
"""Most memory while the file is read: 20 MB of JSON take some twenty times as much at worst."""

MOST_ENTRIES = 20_000
"""Entries of all pages, read in some two seconds."""

MOST_RESPONSES = 1_000

MOST_PAGE_BYTES = 100_000_000
"""Bytes of a page: more would not cross the slow networks in time."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A page that can be replayed."""

    recipe: Recipe
    addresses: Mapping[int, str]
    later_requests: int = 0


class Refused(Exception):
    """The file cannot be replayed; the message is for whoever gave it."""


def main(arguments: Sequence[str]) -> None:
    try:
        if arguments[0] == RELEASED:
            _, folder, visit, cache, *ids = arguments
            page = read_released(Path(folder), int(visit))
        else:
            cache, *ids = arguments
            with bounded_memory():
                page = read_page(sys.stdin.buffer.read())
        # So that the guest and its folder go too. Not before: a handler of Python's waits for whatever
        # reads the file, and a process without one ends at once.
        signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(1))
        lab = guest_process.locate(Path(cache))
        replay = replay_page(lab, page, [network.profile for network in choose(ids)])
    except Refused as exc:
        write(Message(refused=str(exc)))
    except (ReplayError, OSError) as exc:
        write(Message(failed=str(exc)))
    else:
        write(Message(replay=replay))


@contextlib.contextmanager
def bounded_memory() -> Iterator[None]:
    """Bound this process's memory; the guest has its own bound."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY_BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def read_page(content: bytes) -> Page:
    """Return a HAR's first page load; Refused with the reason if there is none."""
    try:
        load = find_load(read_content(content, HAR, most_entries=MOST_ENTRIES))
    except RecordingError as exc:
        raise Refused(str(exc)) from exc
    except MemoryError as exc:
        raise Refused(
            "the file takes too much memory: save the HAR without the content of responses"
        ) from exc
    check_count(len(load.exchanges))
    recipe = check_size(recipe_of(load, 1), "the HAR")
    addresses = {number: address(exchange.url) for number, exchange in enumerate(load.exchanges, start=1)}
    return Page(recipe=recipe, addresses=addresses, later_requests=load.later_requests)


def read_released(folder: Path, visit: int) -> Page:
    """Return a released page load, with the page's usual think times; Refused."""
    release = read_release(folder)
    try:
        (row,) = rows_where(release, "visit", id=visit)
        connections = rows_where(release, "connection", visit_id=visit)
        responses = rows_where(release, "response", visit_id=visit)
        check_count(len(responses))
        baseline = baseline_of(release, rows_where(release, "connection", columns=HANDSHAKE))
        recipe = check_size(make_recipe(row, connections, responses, baseline), "the release")
    except (ValueError, KeyError, pa.ArrowException) as exc:
        raise Refused("the release tells too little of this page load") from exc
    is_local = release.manifest.crawl.kind == "localweb"
    (recipe,) = drop_delays([recipe]) if is_local else assume_think_times([recipe])
    return Page(
        recipe=recipe,
        addresses={one["id"]: f"{one['scheme']}://{one['host']}{one['path'] or ''}" for one in responses},
    )


HANDSHAKE = ["visit_id", "id", "protocol", "remote_address", "opened_us", "connected_us"]
"""Columns of a crawl's shortest handshake; all would take a gigabyte."""


def rows_where(
    release: Release, table: str, *, columns: list[str] | None = None, **equal: int
) -> list[dict[str, Any]]:
    """Return rows with these values, by visit and id."""
    filters = [(name, "=", value) for name, value in equal.items()] or None
    rows = pq.read_table(release.file(table), columns=columns, filters=filters, partitioning=None)
    return sorted(rows.to_pylist(), key=lambda row: (row.get("visit_id"), row["id"]))


def check_count(responses: int) -> None:
    if responses > MOST_RESPONSES:
        raise Refused(f"the page has {responses:,} responses, and the lab replays at most {MOST_RESPONSES:,}")


def check_size(recipe: Recipe | None, source: str) -> Recipe:
    """Return the recipe; Refused without one, or for a page too large."""
    if recipe is None:
        raise Refused(f"{source} tells no size of its main document, so its page cannot be replayed")
    if recipe.response_bytes > MOST_PAGE_BYTES:
        most = MOST_PAGE_BYTES // 10**6
        raise Refused(
            f"the page has {recipe.response_bytes / 1e6:,.0f} MB, and the lab replays at most {most} MB"
        )
    return recipe


class Counter:
    """Tells how many loads are done."""

    def __init__(self, planned: int) -> None:
        self._message = Message(planned=planned)

    def update(self, n: float = 1, /) -> None:
        self._message = Message(done=self._message.done + int(n), planned=self._message.planned)
        write(self._message)


def replay_page(lab: Lab, page: Page, networks: Sequence[Profile]) -> PageReplay:
    """Load the page at each window over each network, in one guest; GuestFailed."""
    recipe = page.recipe
    cells = make_cells([recipe], networks, policies=at_once(*WINDOWS), seeds=SEEDS, conditions=(PLAIN,))
    # By seed last: the guest's calibration comes first, and the loads that are drawn right after it.
    guest = guest_for(sorted(cells, key=lambda cell: cell.seed))
    guest.run(lab, progress=Counter(len(cells)), responses=True)
    if guest.failure:
        raise guest.failure
    check_calibrations([guest])
    done = [(row, cell, answer) for row, cell, answer in judge_cells([guest])]
    return PageReplay(
        host=recipe.page,
        responses=tuple(
            PageResponse(
                number=number,
                address=page.addresses[requested.response_id],
                size_bytes=requested.response_bytes,
            )
            for number, requested in enumerate(recipe.requested, start=1)
        ),
        left_out=recipe.left_out,
        later_requests=page.later_requests,
        loads=tuple(
            loads_of([load for load in done if (load[1].profile, load[1].policy) == (network, Policy(iw))])
            for network in networks
            for iw in WINDOWS
        ),
    )


def address(url: str) -> str:
    """A URL without user, query and fragment, which may be private.

    >>> address("https://me:secret@a.example:8443/x?token=1#y")
    'https://a.example:8443/x'
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def loads_of(done: Sequence[tuple[dict[str, Any], Cell, dict[str, Any] | None]]) -> Loads:
    rows = [row for row, _, _ in done if row["state"] == "done"]
    first_row, cell, answer = done[0]
    each = of_load(cell, answer["each"]) if first_row["state"] == "done" and answer else ()
    return Loads(
        network=cell.profile.id,
        iw=cell.policy.window,
        page_ms=tuple(row["page_ms"] for row in rows),
        payload_bytes=sum(row["payload_bytes"] for row in rows),
        sent_again_bytes=sum(row["bytes_retransmitted"] for row in rows),
        responses=TIMES.validate_python(tuple(each)),
        reason=next((row["reason"] for row, _, _ in done if row["state"] != "done"), None),
    )


def write(message: Message) -> None:
    sys.stdout.buffer.write(LINE.dump_json(message) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
