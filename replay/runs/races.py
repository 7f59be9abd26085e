"""Races: flows, alone or concurrent, on an idle network, as published experiments measured them."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from replay.errors import GuestFailed
from replay.lab.guest_process import GuestAnswer, Lab, run_guest
from replay.networks.profiles import Profile
from replay.runs.network_jobs import FIRST_ORIGIN, network_job
from replay.runs.policy import Policy

VIRTUAL_S = 3600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Flow:
    """A request and its response on a new connection."""

    policy: Policy
    request_bytes: int
    response_bytes: int
    """TCP payload of the response, its header included."""
    upload: bool = False
    """True if the request is the large part."""
    begins_s: float = 0.0
    congestion_control: str | None = None

    def command(self) -> str:
        direction = "up" if self.upload else "down"
        control = self.congestion_control or "-"
        sizes = f"{self.request_bytes} {self.response_bytes}"
        return (
            f"flow {self.begins_s * 1e6:.0f} {FIRST_ORIGIN} {self.policy.word} {direction} {control} {sizes}"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Race:
    """Concurrent flows over one network, in the order in which they begin."""

    profile: Profile
    flows: tuple[Flow, ...]
    seed: int = 0
    """Of losses, and of BBR's probes."""


def download(profile: Profile, *, policy: Policy, request_bytes: int, response_bytes: int) -> Race:
    """Return a race of one response."""
    flow = Flow(policy=policy, request_bytes=request_bytes, response_bytes=response_bytes)
    return Race(profile=profile, flows=(flow,))


@dataclass(frozen=True, kw_only=True, slots=True)
class FlowOutcome:
    """The outcome of a flow."""

    seconds: float
    """From the first SYN to the last byte of payload."""
    handshake_s: float
    segments_sent: int
    segments_retransmitted: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RaceOutcome:
    """The outcome of a race."""

    flows: tuple[FlowOutcome, ...]
    dropped: int


def race(
    lab: Lab,
    races: Sequence[Race],
    *,
    shaper: str,
    congestion_control: str,
    cpu: int | None = None,
) -> list[RaceOutcome]:
    """Run all races in one guest, in turn; GuestFailed if a flow did not end."""
    answers: dict[str, GuestAnswer] = {}

    def take(answer: GuestAnswer) -> None:
        if "race" in answer:
            answers[answer["race"]] = answer

    work = {
        "origins": 1,
        "windows": sorted({10, *(flow.policy.window for run in races for flow in run.flows)}),
        "jobs": [
            network_job(
                profile,
                shaper=shaper,
                congestion_control=congestion_control,
                loads=[line for number, run in numbered for line in commands(number, run)],
            )
            for profile, numbered in itertools.groupby(enumerate(races), key=lambda item: item[1].profile)
        ],
    }
    run_guest(lab, work, [], take, cpus=None if cpu is None else [cpu])
    return [outcome(run, answers[str(number)]) for number, run in enumerate(races)]


def commands(number: int, run: Race) -> Iterator[str]:
    yield from (flow.command() for flow in run.flows)
    yield f"race {number} {VIRTUAL_S:.0f} {run.seed}"


def outcome(run: Race, answer: GuestAnswer) -> RaceOutcome:
    if late := sum(not flow["done"] for flow in answer["flows"]):
        raise GuestFailed(f"{late} transfers over {run.profile.id} did not end", "")
    return RaceOutcome(
        flows=tuple(
            FlowOutcome(
                seconds=flow["ns"] / 1e9,
                handshake_s=flow["handshake_ns"] / 1e9,
                segments_sent=flow["segments_sent"],
                segments_retransmitted=flow["segments_retransmitted"],
            )
            for flow in answer["flows"]
        ),
        dropped=answer["bottleneck_drops"],
    )
