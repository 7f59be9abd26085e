"""Conditions: everything that varies between cells beside page, network, policy and seed."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from replay.networks.distances import DISTANCE, NO_DISTANCE, RECORDED_DISTANCE
from replay.networks.profiles import FRAME_BYTES, Discipline, Profile, check_losses
from replay.networks.queues import PublishedQueues
from replay.recipes.tls_records import TLS_RECORDS, runs_text
from replay.recipes.variants import RECORDED_HTTP
from replay.runs.buffers import UNLIMITED_RECEIVER, USUAL_SEND_BUFFER, receiver_commands, send_buffer_command
from replay.runs.origins import AS_TCP, HTTP3, ONE_SENDER, PUBLISHED_SENDERS, SENDERS, STAND_IN
from replay.runs.policy import Policy

BACKGROUND_IW = 10
"""Today's, of background flows (RFC 6928). Every guest has a route for it."""

SERVER_DELAY = ("none", "recorded")

CACHE = ("cold", "warm")

DNS = ("none", "recorded")
"""Values of the column `dns`: the browser knows the hosts' addresses; or it asks for each once, which takes a
round trip and what the resolver needed in the recording."""

DISCOVERY = (RECORDED_DISCOVERY, FIRST_BYTE, LAST_BYTE) = ("recorded", "first-byte", "last-byte")
"""Values of the column `discovery`: when the browser asks for what a response leads to. As recorded, or by
type and order, after its own delay; or at the first or the last byte of the response at once, between which
the truth lies."""


ROUTE = ("own", "alias")
"""Values of the column `route`: the initial window is its own route's, or a second one's."""

ALIAS = 256
"""Added to a window: the number of its second route in the guest (replay/lab/guest/network/hosts.h)."""

H2_ORDER = ("turns", "priority")
"""Values of the column `h2_order`: how servers answer several requests of an HTTP/2 connection."""

HANDSHAKES = (RECORDED_HANDSHAKE, RESUMED, EARLY_DATA) = ("recorded", "resumed", "early-data")
"""Values of the column `tls_handshake`: full handshakes; resumed ones, without certificates and in one round
trip; or resumed ones with the first request in the first flight (RFC 8446 §2.3)."""


REQUESTS = (CHROMIUM_REQUESTS, UNLIMITED_REQUESTS) = ("chromium", "unlimited")
"""Values of the column `requests`: whether the browser holds requests of low priority back,
as Chromium does, or none."""

SLOW_RTT_US = 272_000
"""Round trip from which on Chromium takes a network for its type 3G or slower (net/nqe, HTTP RTT). The
servers' time is part of what Chromium measures; here it is the path's alone."""

LOW_PRIORITY_REQUESTS, SLOW_REQUESTS, SLOW_WEIGHT = 10, 8, 3
"""Most requests of low priority at a time to hosts that Chromium does not know to speak HTTP/2; on slow
networks, where every other request counts for SLOW_WEIGHT of them (services/network/resource_scheduler)."""

RECORDED_RECORDS, ANY_BYTE = "recorded", "none"
RECORDS = {
    RECORDED_RECORDS: f"recorded {runs_text(TLS_RECORDS['16k'])}",
    **{name: f"fixed {runs_text(runs)}" for name, runs in TLS_RECORDS.items()},
    ANY_BYTE: f"bytes {runs_text(TLS_RECORDS['16k'])}",
}
"""Values of the column `tls_records`, as the player takes them: sizes as recorded, and of 16 kB where they
are not; the same for all servers; or records of 16 kB of which each byte is of use when it arrives, which is
not what browsers do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Loss:
    """Random loss in each direction, beside the queue's drops."""

    share: float
    burst: float = 1.0
    """Mean length of a run of losses, geometrically distributed."""

    def __post_init__(self) -> None:
        check_losses(self.share, self.burst)

    def __str__(self) -> str:
        return f"{self.share:g}x{self.burst:g}" if self.burst > 1 else f"{self.share:g}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Competition:
    """Competing bulk flows at the bottleneck. They begin with the background, before the page."""

    flows: int
    congestion_control: str
    iw: int

    def __str__(self) -> str:
        return f"{self.flows}x{self.congestion_control}@{self.iw}"


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherQueue:
    """A queue of the bottleneck that replaces the profile's."""

    bdp: float | None = None
    """In bandwidth-delay products, at least two packets; None: `bytes` is the size."""
    bytes: int = 0
    discipline: Discipline = "tail-drop"
    """Others than tail drop have limits of their own."""

    def over(self, profile: Profile) -> Profile:
        return replace(profile, queue_bytes=self.of(profile), discipline=self.discipline)

    def of(self, profile: Profile) -> int:
        if self.discipline != "tail-drop":
            return profile.queue_bytes
        return self.bytes if self.bdp is None else max(round(self.bdp * profile.bdp_bytes), 2 * FRAME_BYTES)

    def __str__(self) -> str:
        if self.discipline != "tail-drop":
            return self.discipline
        return f"{self.bytes}B" if self.bdp is None else f"{self.bdp:g}BDP"


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbours:
    """Other traffic at the bottleneck that replaces the ordinary background, and its measurements."""

    load: float = 0.0
    """Share of the bottleneck that short flows ask for, whose times are measured."""
    everyone: bool = False
    """True if servers of short flows follow the cell's policy."""
    probe: bool = False
    """True if a datagram of 8 bytes is timed every 20 ms."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Conditions:
    """The conditions of a load. The recommendation rests on the defaults."""

    congestion_control: str = "cubic"
    """Of the page's servers that are not drawn as BBR; the default is Linux's."""
    senders: str = PUBLISHED_SENDERS
    distance: str = RECORDED_DISTANCE
    http3: str = STAND_IN
    loss: Loss | None = None
    """None: the profile's."""
    competition: Competition | None = None
    server_delay: bool = True
    """True if servers answer after the recorded delay, or the usual one of the type."""
    warm_cache: bool = False
    queue: OtherQueue | PublishedQueues | None = None
    """Queue, or reading of the published queues; None: the profile's."""
    tls_records: str = RECORDED_RECORDS
    discovery: str = RECORDED_DISCOVERY
    tls_handshake: str = RECORDED_HANDSHAKE
    requests: str = CHROMIUM_REQUESTS
    resolves_names: bool = False
    receiver: str = UNLIMITED_RECEIVER
    http: str = RECORDED_HTTP
    prioritised: bool = False
    """True if HTTP/2 servers answer by the requests' priorities."""
    send_buffer: str = USUAL_SEND_BUFFER
    alias: bool = False
    """True for a second route of the same size: such loads must equal the first's."""
    neighbours: Neighbours | None = None
    """In place of the ordinary background."""

    def __post_init__(self) -> None:
        for name, values in (("senders", SENDERS), ("distance", DISTANCE), ("http3", HTTP3)):
            if getattr(self, name) not in values:
                raise ValueError(f"{name} is one of {', '.join(values)}, not {getattr(self, name)}")

    @property
    def id(self) -> str:
        return (
            f"{self.congestion_control}.{self.loss or 'own'}.{self.competition or 'alone'}"
            f".{SERVER_DELAY[self.server_delay]}.{CACHE[self.warm_cache]}{self._others}"
        )

    @property
    def _others(self) -> str:
        words = [str(self.queue)] if self.queue else []
        others = (
            (f"tls-{self.tls_records}", self.tls_records != RECORDED_RECORDS),
            (f"from-{self.senders}", self.senders != PUBLISHED_SENDERS),
            (f"at-{self.distance}", self.distance != RECORDED_DISTANCE),
            (f"h3-{self.http3}", self.http3 != STAND_IN),
            (self.discovery, self.discovery != RECORDED_DISCOVERY),
            (self.tls_handshake, self.tls_handshake != RECORDED_HANDSHAKE),
            (self.requests, self.requests != CHROMIUM_REQUESTS),
            (f"dns-{DNS[True]}", self.resolves_names),
            (f"to-{self.receiver}", self.receiver != UNLIMITED_RECEIVER),
            (f"over-{self.http}", self.http != RECORDED_HTTP),
            (H2_ORDER[True], self.prioritised),
            (f"buffer-{self.send_buffer}", self.send_buffer != USUAL_SEND_BUFFER),
            (ROUTE[True], self.alias),
        )
        words += [word for word, is_there in others if is_there]
        if self.neighbours:
            windows = "everyone" if self.neighbours.everyone else "today"
            words.append(f"{self.neighbours.load:g}.{windows}{'.probe' if self.neighbours.probe else ''}")
        return "".join(f".{word}" for word in words)

    def network(self, profile: Profile) -> Profile:
        return self.queue.over(profile) if self.queue else profile

    def columns(self) -> dict[str, object]:
        return {
            "congestion_control": self.congestion_control,
            "senders": self.senders,
            "distance": self.distance,
            "http3": self.http3,
            "loss": self.loss and self.loss.share,
            "loss_burst": self.loss and self.loss.burst,
            "competition": self.competition and str(self.competition),
            "think": SERVER_DELAY[self.server_delay],
            "cache": CACHE[self.warm_cache],
            "tls_records": self.tls_records,
            "discovery": self.discovery,
            "tls_handshake": self.tls_handshake,
            "requests": self.requests,
            "dns": DNS[self.resolves_names],
            "receiver": self.receiver,
            "http": self.http,
            "h2_order": H2_ORDER[self.prioritised],
            "send_buffer": self.send_buffer,
            "route": ROUTE[self.alias],
            "queue": self.queue and str(self.queue),
            "background_load": self.neighbours and self.neighbours.load,
            "everyone": self.neighbours and self.neighbours.everyone,
            "probe": self.neighbours and self.neighbours.probe,
        }

    def commands(self, profile: Profile, policy: Policy) -> Iterator[str]:
        """Yield the player's commands, each in force until the next of its kind."""
        yield f"control {self.congestion_control}"
        yield f"policy {policy.word}"
        loss = self.loss or Loss(share=profile.loss, burst=profile.loss_burst)
        yield f"loss {loss.share:.9f} {loss.burst:.3f}"
        competing = self.competition or Competition(flows=0, congestion_control="cubic", iw=10)
        yield f"tls-records {RECORDS[self.tls_records]}"
        yield f"priorities {'on' if self.prioritised else 'off'}"
        yield send_buffer_command(self.send_buffer)
        yield f"alias {'on' if self.alias else 'off'}"
        yield f"request-limit {request_limit(profile) if self.requests == CHROMIUM_REQUESTS else '0 0'}"
        yield f"names {'on' if self.resolves_names else 'off'}"
        yield from receiver_commands(self.receiver)
        yield f"handshake {self.tls_handshake}"
        yield f"discovery {self.discovery}"
        yield f"server-delay {'on' if self.server_delay else 'off'}"
        yield f"competing-flows {competing.flows} {competing.iw} {competing.congestion_control}"
        neighbours = self.neighbours or Neighbours()
        yield f"background {(policy if neighbours.everyone else Policy(BACKGROUND_IW)).word}"
        yield f"probe {'on' if neighbours.probe else 'off'}"
        yield f"short-flows {'on' if neighbours.load else 'off'}"


PLAIN = Conditions(senders=ONE_SENDER, distance=NO_DISTANCE, http3=AS_TCP)
"""All servers send alike from the end of the line, as in back-casts and reproductions."""


def request_limit(profile: Profile) -> str:
    """Return Chromium's limit of low-priority requests, and what another request counts for."""
    is_slow = profile.rtt_us >= SLOW_RTT_US
    return f"{SLOW_REQUESTS} {SLOW_WEIGHT}" if is_slow else f"{LOW_PRIORITY_REQUESTS} 0"
