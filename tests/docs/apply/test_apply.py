"""The commands of docs/apply.md, taken from the page, do what it says: held to captures of what servers send.

The route and fq run in the replay's kernel in virtual time; the same, IPv6 and the sockops program
in Debian's unmodified kernel in real time.
"""

import dataclasses
import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from replay.lab import debian
from replay.lab.guest_process import Lab, claim_cpu, listen, start, usable_cpus
from replay.lab.scratch import guest_scratch
from tests.replay.conftest import built_lab

pytestmark = [pytest.mark.lab, pytest.mark.slow]

PAGE = (Path(__file__).parents[3] / "docs" / "apply.md").read_text(encoding="utf-8")
GUEST = Path(__file__).with_name("guest")
MODULES = (
    "lib/crc-ccitt.ko",
    "net/ipv6/ipv6.ko",
    "drivers/net/veth.ko",
    "net/sched/sch_netem.ko",
    "net/sched/sch_fq.ko",
)
"""Modules of Debian's kernel, in the order of their dependencies."""
ROUTE, ROUTE_UNDONE, FQ, FQ_ON_QUEUES, FQ_UNDONE, COMPILED, ATTACHED, DETACHED, WATCHED = re.findall(
    r"```sh\n(.*?)```", PAGE, re.DOTALL
)
(PROGRAM,) = re.findall(r"```c\n(.*?)```", PAGE, re.DOTALL)
ROW = re.compile(r"^\| (\d+) \| (.*) \|$", re.MULTILINE)
WINDOW, KERNELS, BEYOND_MS = 20, 10, 100
"""Segments of the page's examples and of Linux without them, and the page's round trip."""
FAR_MS, NEAR_MS = 300, 20
"""Round trips on both sides of the page's; a far one's retransmission timeout, thrice as long,
is more than a busy machine takes to answer."""
IDLE_S = 3.0
"""Pause in which a window of some tens of segments has begun again."""
HANDSHAKE_SEGMENTS = 4
SEGMENT_BYTES = {(4, True): 1448, (4, False): 1460, (6, True): 1428, (6, False): 1440}
"""Payload of a full segment by version of IP, and whether it has timestamps."""


class Sent(NamedTuple):
    """What a server sent on a connection after some commands."""

    rtt_us: int
    """Round trip of the handshake, by the server's kernel."""
    repeated: int
    """SYN-ACKs that were sent again."""
    flights: list[list[list[int]]]
    """Segments that left before the first acknowledgement, by response:
    microsecond since the first, and payload."""
    said: str
    watched: str
    """Output of the commands of the open connection, before its first response."""

    @property
    def windows(self) -> list[int]:
        return [len(flight) for flight in self.flights]

    @property
    def times_ms(self) -> list[float]:
        return [at_us / 1000 for at_us, _ in self.flights[0]]


def step(commands: str = "", **values: Any) -> dict[str, Any]:
    usual = {"family": 4, "rtt_ms": 100, "timestamps": True, "pauses_s": [0], "handshake_bytes": 0}
    return {"commands": commands, "watch": "", "loses_syn_ack": False, **usual, **values}


def operate(lab: Lab, families: list[int], steps: Sequence[dict[str, Any]], folder: Path) -> list[Sent]:
    answers: list[dict[str, Any]] = []
    work = {"families": families, "queues": 2, "folder": str(folder), "steps": steps}
    with guest_scratch() as scratch, claim_cpu(usable_cpus()[::-1]) as cpu:
        (scratch / "work.json").write_text(json.dumps(work))
        process = start(lab, scratch, cpu=cpu, guest=GUEST)
        listen(process, answers.append, silence_s=120)
    return [Sent(**answer["done"]) for answer in answers if "done" in answer]


def without_ipv6(commands: str) -> str:
    return "".join(line for line in commands.splitlines(keepends=True) if "ip -6" not in line)


@pytest.fixture(scope="module")
def virtual(tmp_path_factory: pytest.TempPathFactory) -> list[Sent]:
    """Over 100 ms of the replay's kernel, which has no IPv6: neither, the route, fq, fq behind a handshake,
    fq on each queue, and each undone."""
    steps = [
        step(),
        step(without_ipv6(ROUTE)),
        step(FQ),
        step(handshake_bytes=HANDSHAKE_SEGMENTS * SEGMENT_BYTES[4, True]),
        step(FQ_UNDONE + FQ_ON_QUEUES),
        step(FQ_UNDONE + "tc qdisc show dev eth0"),
        step(without_ipv6(ROUTE_UNDONE)),
    ]
    return operate(built_lab(), [4], steps, tmp_path_factory.mktemp("operator"))


def test_the_route_gives_each_connection_its_window_at_once(virtual: list[Sent]) -> None:
    own, by_route, *_, fq_undone, route_undone = virtual
    assert own.windows == route_undone.windows == [KERNELS]
    assert by_route.windows == fq_undone.windows == [WINDOW]
    assert by_route.times_ms == fq_undone.times_ms == [0] * WINDOW


def test_fq_lets_ten_segments_out_at_once_and_two_every_5_ms(virtual: list[Sent]) -> None:
    paced, _, on_queues = virtual[2:5]
    pairs = [5.0 * (1 + number // 2) for number in range(WINDOW - 10)]
    assert paced.times_ms == pytest.approx([0] * 10 + pairs, abs=0.2)
    assert on_queues.times_ms == pytest.approx(paced.times_ms, abs=0.2)
    assert on_queues.said.count("qdisc fq ") == 2
    assert "fq " not in virtual[5].said


def test_a_handshake_of_tls_takes_its_part_of_the_ten_segments(virtual: list[Sent]) -> None:
    times = virtual[3].times_ms
    assert [at for at in times if at == 0] == [0] * (10 - HANDSHAKE_SEGMENTS)
    assert len(times) == WINDOW
    assert times[-1] == pytest.approx(35, abs=0.2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The operator's folder, with the program compiled as the page says."""
    folder = tmp_path_factory.mktemp("operator")
    (folder / "initial_window.bpf.c").write_text(PROGRAM, encoding="utf-8")
    subprocess.run(["sh", "-ec", COMPILED], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def debian_lab() -> Lab:
    """Debian's kernel with what the page's commands need; LabMissing says what to do where it cannot run."""
    lab = debian.locate(built_lab().player)
    modules = Path(lab.modules[0]).parents[1]
    return dataclasses.replace(lab, modules=tuple(str(modules / name) for name in MODULES))


@pytest.mark.thorough
@pytest.mark.parametrize("family", [4, 6])
def test_debian_s_kernel_does_the_same_over_both_versions_of_ip(
    family: int, debian_lab: Lab, folder: Path
) -> None:
    steps = [
        step(family=family),
        step(family=family, timestamps=False),
        step(ROUTE, family=family, watch=WATCHED, pauses_s=[0, IDLE_S]),
        step(FQ, family=family),
        step(ROUTE_UNDONE, family=family),
    ]
    own, unstamped, by_route, paced, undone = operate(debian_lab, [4, 6], steps, folder)
    assert own.windows == unstamped.windows == undone.windows == [KERNELS]
    assert by_route.windows == [WINDOW, WINDOW]
    assert_paced(paced)
    for sent, is_stamped in ((own, True), (unstamped, False)):
        assert {size for _, size in sent.flights[0]} == {SEGMENT_BYTES[family, is_stamped]}
    assert f"cwnd:{WINDOW}" in by_route.watched
    counters = re.findall(r"Tcp\w+", WATCHED)
    assert len(counters) > 3
    assert [name for name in counters if not re.search(rf"^{name} ", by_route.watched, re.MULTILINE)] == []


@pytest.mark.thorough
@pytest.mark.parametrize("family", [4, 6])
def test_the_program_gives_the_window_to_connections_beyond_the_round_trip_alone(
    family: int, debian_lab: Lab, folder: Path
) -> None:
    """A near handshake may last longer on a busy machine: what counts is what the kernel measured."""
    near: dict[str, Any] = {"family": family, "rtt_ms": NEAR_MS}
    far: dict[str, Any] = {"family": family, "rtt_ms": FAR_MS}
    steps = [
        step(**far),
        step(ATTACHED, **far, pauses_s=[0, IDLE_S]),
        *(step(**near) for _ in range(3)),
        step(**far, pauses_s=[IDLE_S]),
        step(**far, loses_syn_ack=True),
        step(FQ, **far),
        step(DETACHED + "bpftool cgroup show /sys/fs/cgroup", **far),
    ]
    own, attached, *nears, idle, repeated, paced, detached = operate(debian_lab, [4, 6], steps, folder)
    assert own.windows == detached.windows == [KERNELS]
    assert "initial_window" in attached.said
    assert "initial_window" not in detached.said
    assert attached.windows == [WINDOW, KERNELS]
    assert [sent.windows for sent in nears] == [
        [WINDOW if sent.rtt_us > BEYOND_MS * 1000 else KERNELS] for sent in nears
    ]
    assert min(sent.rtt_us for sent in nears) < BEYOND_MS * 1000
    assert idle.windows == [KERNELS]
    assert repeated.repeated > 0
    assert repeated.rtt_us > BEYOND_MS * 1000  # timestamps tell it
    assert max(repeated.windows) <= KERNELS  # one after two losses
    assert_paced(paced)


def assert_paced(sent: Sent) -> None:
    """Assert that the window left no sooner than its pace allows: in real time any segment may be late."""
    assert sent.windows == [WINDOW]
    pair_ms = sent.rtt_us / 1000 / WINDOW
    paces = [pair_ms * max(0, (number - 8) // 2) for number in range(WINDOW)]
    early = [(at, pace) for at, pace in zip(sent.times_ms, paces, strict=True) if at < 0.9 * pace]
    assert early == []


def test_the_page_s_windows_in_bytes_are_whole_segments() -> None:
    rows = [(int(window), sizes) for window, sizes in ROW.findall(PAGE)]
    assert len(rows) > 3
    for window, sizes in rows:
        assert sizes.split(" | ") == [f"{window * size:,}" for size in SEGMENT_BYTES.values()]
