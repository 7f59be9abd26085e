"""Loads whose packets are captured in the guest, as they leave the page's first server and at the client."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from replay.lab.guest_process import Lab, listen, start, usable_cpus
from replay.lab.player import GUEST
from replay.lab.scratch import guest_scratch
from replay.runs.cells import Cell
from replay.runs.guests import load_commands
from replay.runs.network_jobs import network_job

DRIVER = Path(__file__).parents[1] / "replay" / "lab" / "capture"

SYN = 2


class Packet(NamedTuple):
    """A packet of TCP."""

    ns: int
    source: int
    target: int
    sequence: int
    payload: int
    flags: int
    ident: int
    """IP's, by which a copy is the same at both ends."""


@dataclass(frozen=True)
class Captured:
    """A load with its packets in their order."""

    answer: dict[str, Any]
    server: list[Packet]
    """Both ways, at the page's first server."""
    client: list[Packet]

    def sent(self, port: int | None = None) -> list[Packet]:
        data = (packet for packet in self.server if packet.source == 80 and packet.payload)
        return [packet for packet in data if port in (None, packet.target)]

    def received(self) -> list[Packet]:
        return [packet for packet in self.client if packet.source == 80 and packet.payload]

    @property
    def ports(self) -> list[int]:
        return [packet.source for packet in self.server if packet.target == 80 and packet.flags & SYN]

    def handshake_ns(self, port: int) -> int:
        """Return the time from the first SYN-ACK until what acknowledged it, at the server."""
        own = [packet for packet in self.server if port in (packet.source, packet.target)]
        syn_ack = next(packet for packet in own if packet.source == 80 and packet.flags & SYN)
        return next(p for p in own if p.source == port and not p.flags & SYN).ns - syn_ack.ns


def capture_loads(lab: Lab, cells: Sequence[Cell]) -> list[Captured]:
    """Load cells in one guest, each over a network job of its own, and return them with their packets."""
    recipes = list(dict.fromkeys(cell.recipe for cell in cells))
    numbers = {recipe: number for number, recipe in enumerate(recipes)}
    answers: list[dict[str, Any]] = []
    with guest_scratch() as scratch:
        pages = []
        for number, recipe in enumerate(recipes):
            (scratch / f"{number}.page").write_text(recipe.to_text(), encoding="utf-8")
            pages.append(str(scratch / f"{number}.page"))
        jobs = [
            network_job(
                cell.network,
                shaper="tbf",
                congestion_control="cubic",
                loads=[*load_commands([cell], numbers)],
            )
            for cell in cells
        ]
        work = {
            "guest": str(GUEST),
            "player": str(lab.player),
            "settings": [],
            "pages": pages,
            "origins": max(len(recipe.origins) for recipe in recipes),
            "windows": sorted({10, *(cell.policy.window for cell in cells)}),
            "jobs": jobs,
        }
        (scratch / "work.json").write_text(json.dumps(work), encoding="utf-8")
        listen(start(lab, scratch, cpu=usable_cpus()[-1], guest=DRIVER), answers.append, silence_s=120)
    printed = [answer for answer in answers if "cell" in answer]
    captured = {
        where: [in_order(answer["packets"]) for answer in answers if answer.get("captured") == where]
        for where in ("server", "client")
    }
    assert not [answer["failed"] for answer in printed if "failed" in answer]
    return [Captured(*each) for each in zip(printed, captured["server"], captured["client"], strict=True)]


def in_order(captured: Sequence[Sequence[int]]) -> list[Packet]:
    """Return the packets from the load's first SYN on; those before it are of the load before."""
    packets = sorted(Packet(*packet) for packet in captured)
    first = next(place for place, packet in enumerate(packets) if packet.flags & SYN)
    return packets[first:]
