"""Connections to servers whose initial window is known, and what the estimate says of each."""

import base64
import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawler.capture.first_flight import FirstFlight, first_flight
from crawler.capture.packets import end, parse
from replay.lab.guest_process import SILENCE_S, Lab, listen, start, usable_cpus
from replay.lab.scratch import guest_scratch

MSS = 1448
"""Payload of a full segment of the guest, in bytes: 1460 less the timestamps."""
WINDOWS = (2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 30, 32, 40, 48, 64)
SHARES = (0.6, 0.95, 1.3, 2.0, 3.5, 6.0)
"""Lengths of responses, in initial windows."""
DRIVER = Path(__file__).parent
PACKET_BYTES = 1 << 16
"""Limit of a packet's size: the guest passes on headers, whose lengths count."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Network:
    """The path between client and server, and how the server sends."""

    id: str
    rtt_us: int = 40_000
    jitter_us: int = 0
    """Most by which each way's delay of a packet differs from half the round trip, evenly;
    packets keep their order."""
    loss_percent: float = 0
    rate_mbit: int = 1000
    is_paced: bool = False
    """True: fq paces whatever TCP sends; BBR paces itself anyway."""
    is_merged: bool = False
    """True: several segments are captured as one packet, as TSO and GRO make them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """What comes before the response, and how the client receives."""

    id: str
    handshake: int = 0
    """Bytes of the server's handshake flight; 0: cleartext."""
    early: tuple[int, ...] = ()
    """Small writes before the response: tickets, SETTINGS."""
    receive_buffer: int = 0
    """SO_RCVBUF of the client, in bytes; 0: the receive window never limits the first flight."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """One connection: its truth and its estimate."""

    network: str
    exchange: str
    control: str
    window: int
    body: int
    estimate: FirstFlight | str

    @property
    def is_longer(self) -> bool:
        """True if the response alone is longer than the initial window."""
        return self.body > self.window * MSS


NETWORKS = (
    Network(id="40 ms"),
    Network(id="40 ms, fq", is_paced=True),
    Network(id="40 ms, merged segments", is_merged=True),
    Network(id="10 ms", rtt_us=10_000),
    Network(id="150 ms, 100 Mbit/s", rtt_us=150_000, rate_mbit=100),
    Network(id="150 ms, 100 Mbit/s, fq", rtt_us=150_000, rate_mbit=100, is_paced=True),
    Network(id="40 ms, jitter of 1 ms", jitter_us=1_000),
    Network(id="40 ms, 1 % loss", loss_percent=1),
)
EXCHANGES = (
    Exchange(id="cleartext"),
    Exchange(id="handshake of 2 segments", handshake=2500),
    Exchange(id="handshake of 3 segments, ticket", handshake=3500, early=(500,)),
    Exchange(id="handshake of 6 segments, ticket", handshake=8000, early=(500,)),
    Exchange(id="cleartext, receive window of 64 kB", receive_buffer=65_536),
    Exchange(id="cleartext, receive window of 9 kB", receive_buffer=9_000),
)
CONTROLS = ("cubic", "bbr")


def work(
    networks: Sequence[Network],
    exchanges: Sequence[Exchange],
    controls: Sequence[str],
    windows: Sequence[int],
) -> dict[str, Any]:
    """The guest's work: every combination, for all lengths of responses."""
    cells = [
        {
            **dataclasses.asdict(exchange),
            "id": [exchange.id, control, window, round(share * window * MSS)],
            "control": control,
            "window": window,
            "body": round(share * window * MSS),
        }
        for exchange in exchanges
        for control in controls
        for window in windows
        for share in SHARES
    ]
    return {
        "windows": list(windows),
        "paths": [{"path": dataclasses.asdict(network), "cells": cells} for network in networks],
    }


def measure(
    lab: Lab, asked: dict[str, Any], *, silence_s: float = SILENCE_S, cpu: int | None = None
) -> list[Outcome]:
    """Run the connections in a guest, and estimate the window of each from its packets."""
    answers: list[dict[str, Any]] = []
    with guest_scratch() as scratch:
        (scratch / "work.json").write_text(json.dumps(asked))
        process = start(lab, scratch, cpu=usable_cpus()[-1] if cpu is None else cpu, guest=DRIVER)
        listen(process, answers.append, silence_s=silence_s)
    return list(_outcomes(answers))


def _outcomes(answers: list[dict[str, Any]]) -> Iterator[Outcome]:
    for answer in answers:
        if "cell" not in answer:
            continue
        exchange, control, window, body = answer["cell"]
        packets = (
            parse(base64.b64decode(headers), time_ns=time_ns, size=PACKET_BYTES, gso_size=gso_size)
            for time_ns, gso_size, headers in answer["packets"]
        )
        estimate = first_flight(
            [packet for packet in packets if packet is not None],
            client=end(*answer["client"]),
            request_ns=answer["request_ns"],
        )
        yield Outcome(
            network=answer["network"],
            exchange=exchange,
            control=control,
            window=window,
            body=body,
            estimate=estimate,
        )
