"""Connections to servers whose initial window is known, and what the estimate says of each."""

import base64
import dataclasses
import json
import os
import subprocess
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crawler.capture.first_flight import CapturedFlight, measure_first_flight
from crawler.capture.packets import pack_end, parse_packet
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
    server: str = "plain"
    """Which server answers: one without TLS, whose handshake is so many bytes,
    or one of `servers.programs.PORTS`."""
    protocol: str = "h1"
    is_resumed: bool = False
    """True if the client resumes a TLS session."""
    think_us: int = 0
    """Time from the request to the response."""
    flushed: int = 0
    """Bytes of the response that the server sends before it thinks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """One connection: its truth and its estimate."""

    network: str
    exchange: Exchange
    control: str
    window: int
    body: int
    estimate: CapturedFlight | str

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


THINKS_US = (0, 1_000, 3_000, 10_000, 40_000, 100_000, 200_000)
FLUSHED = 5_000
SERVERS = (
    *(("openssl", "h1"), ("s_server", "h1")),
    *(("nginx", "h1"), ("nginx", "h2"), ("go", "h1"), ("go", "h2")),
)
THINKING_NETWORKS = (
    *(Network(id=f"{ms} ms", rtt_us=ms * 1000) for ms in (1, 3, 10, 40, 100, 300)),
    Network(id="40 ms, fq", is_paced=True),
    Network(id="100 ms, merged segments", rtt_us=100_000, is_merged=True),
    Network(id="40 ms, jitter of 1 ms", jitter_us=1_000),
    Network(id="40 ms, 1 % loss", loss_percent=1),
    Network(id="10 ms, 2 % loss", rtt_us=10_000, loss_percent=2),
    Network(id="100 ms, 3 % loss", rtt_us=100_000, loss_percent=3),
)
THINKING_WINDOWS = (2, 4, 10, 16, 32)
THINKING_SHARES = (0.95, 1.3, 3.5, 6.0)
CELLS = 400
"""Connections of servers that think, by network: a sample of all combinations."""


def thinking_exchanges(servers: Sequence[tuple[str, str]] = SERVERS) -> tuple[Exchange, ...]:
    """Return the exchanges with servers that think, with TLS of real servers and without TLS."""
    plain = [exchange for exchange in EXCHANGES if not exchange.receive_buffer]
    secured = [
        Exchange(
            id=f"{server}, {protocol}{', resumed' if is_resumed else ''}",
            server=server,
            protocol=protocol,
            is_resumed=is_resumed,
        )
        for server, protocol in servers
        for is_resumed in (False, True)
    ]
    return tuple(
        dataclasses.replace(exchange, think_us=think_us, flushed=flushed)
        for exchange in (*plain, *secured)
        for think_us in (THINKS_US if exchange.server != "s_server" else (0,))
        for flushed in ((0, FLUSHED) if think_us and exchange.server != "nginx" else (0,))
    )


def work(
    networks: Sequence[Network],
    exchanges: Sequence[Exchange],
    controls: Sequence[str],
    windows: Sequence[int],
    *,
    shares: Sequence[float] = SHARES,
    cells: int | None = None,
    seed: int = 1,
) -> dict[str, Any]:
    """Return the guest's work: every combination, or `cells` of them for each network."""
    every = [
        {
            **dataclasses.asdict(exchange),
            "control": control,
            "window": window,
            "body": max(round(share * window * MSS), exchange.flushed + MSS),
        }
        for exchange in exchanges
        for control in controls
        for window in windows
        for share in shares
    ]
    rng = np.random.Generator(np.random.PCG64(seed))
    return {
        "windows": list(windows),
        "paths": [
            {
                "path": dataclasses.asdict(network),
                "cells": every
                if cells is None
                else [every[n] for n in rng.choice(len(every), cells, replace=False)],
            }
            for network in networks
        ],
    }


def measure(lab: Lab, job: dict[str, Any], *, silence_s: float = SILENCE_S) -> list[Outcome]:
    """Run the connections in a guest, and estimate the window of each from its packets."""
    answers: list[dict[str, Any]] = []
    with guest_scratch() as scratch:
        cells = [cell for path in job["paths"] for cell in path["cells"]]
        bodies = sorted({cell["body"] for cell in cells})
        servers = {cell["server"] for cell in cells} - {"plain"}
        programs = str(build_programs(scratch, servers)) if servers else ""
        (scratch / "work.json").write_text(json.dumps({**job, "programs": programs, "bodies": bodies}))
        process = start(lab, scratch, cpu=usable_cpus()[-1], guest=DRIVER)
        listen(process, answers.append, silence_s=silence_s)
    return list(outcomes(answers))


def build_programs(folder: Path, servers: Collection[str]) -> Path:
    """Make the certificate, and the server of Go's net/http if it is one of the servers;
    returns their folder."""
    programs = folder / "programs"
    programs.mkdir()
    key = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    ends = ["-keyout", "key.pem", "-out", "cert.pem", "-days", "36500", "-subj", "/CN=lab.test"]
    subprocess.run([*key, *ends], check=True, cwd=programs, stderr=subprocess.DEVNULL)
    if "go" not in servers:
        return programs
    subprocess.run(
        ["go", "build", "-o", str(programs / "server"), str(DRIVER / "servers" / "server.go")],
        check=True,
        env={**os.environ, "CGO_ENABLED": "0"},
    )
    return programs


def outcomes(answers: Iterable[dict[str, Any]]) -> Iterator[Outcome]:
    """Yield the truth and the estimate of each connection in the guest's answers."""
    names = {field.name for field in dataclasses.fields(Exchange)}
    for answer in answers:
        if "cell" not in answer:
            continue
        cell = answer["cell"]
        packets = (
            parse_packet(base64.b64decode(headers), time_ns=time_ns, size=PACKET_BYTES, gso_size=gso_size)
            for time_ns, gso_size, headers in answer["packets"]
        )
        estimate = measure_first_flight(
            [packet for packet in packets if packet is not None],
            client=pack_end(*answer["client"]),
            request_ns=answer["request_ns"],
        )
        yield Outcome(
            network=answer["network"],
            exchange=Exchange(**{name: value for name, value in cell.items() if name in names}),
            control=cell["control"],
            window=cell["window"],
            body=cell["body"],
            estimate=estimate,
        )
