"""Single transfers over an idle network: what published experiments measured, and what arithmetic predicts."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reports.replay.errors import GuestFailed
from reports.replay.lab.machine import run_guest, usable_cpus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reports.populations import Profile
    from reports.replay.lab.machine import Lab

HOST = 2
"""The first origin."""

WALL_S = 900.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Transfer:
    """One response asked for on a new connection."""

    profile: Profile
    iw: int
    request_bytes: int
    """TCP payload of the request."""
    response_bytes: int
    """TCP payload of the response, its header included."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Transferred:
    """What became of it."""

    seconds: float
    """From the first SYN to the last byte of payload."""
    dropped: int
    """Packets that the bottleneck's queue refused."""


def transfer(
    lab: Lab,
    wanted: Sequence[Transfer],
    *,
    shaper: str,
    congestion_control: str,
    cpu: int | None = None,
) -> list[Transferred]:
    """All of them, one after the other in one guest, in their order; GuestFailed if one did not end."""
    answers: dict[str, dict[str, Any]] = {}

    def take(answer: dict[str, Any]) -> None:
        if "transfer" in answer:
            answers[answer["transfer"]] = answer

    work = {
        "origins": 1,
        "windows": sorted({10, *(one.iw for one in wanted)}),
        "congestion_control": congestion_control,
        "shifts": [
            shift(profile, list(numbered), shaper)
            for profile, numbered in itertools.groupby(enumerate(wanted), key=lambda item: item[1].profile)
        ],
    }
    run_guest(lab, work, [], take, cpu=usable_cpus()[-1] if cpu is None else cpu, wall_seconds=WALL_S)
    if late := [one for number, one in enumerate(wanted) if not answers[str(number)]["done"]]:
        raise GuestFailed(f"{len(late)} transfers did not end, the first over {late[0].profile.id}", "")
    return [
        Transferred(seconds=answers[key]["ns"] / 1e9, dropped=answers[key]["bottleneck_drops"])
        for key in map(str, range(len(wanted)))
    ]


def shift(profile: Profile, numbered: list[tuple[int, Transfer]], shaper: str) -> dict[str, Any]:
    """Those over one profile, as the driver inside takes them."""
    return {
        "profile": {
            "id": profile.id,
            "shaper": shaper,
            "down_bps": profile.down_bps,
            "up_bps": profile.up_bps,
            "rtt_us": profile.rtt_us,
            "queue_bytes": profile.queue_bytes,
        },
        "flights": [],
        "cells": [],
        "transfers": [
            f"transfer {number} {HOST} {one.iw} {one.request_bytes} {one.response_bytes}"
            for number, one in numbered
        ],
    }
