"""Distance and sender of each origin of a load, drawn by its seed and alike for all windows."""

import csv
import functools
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from replay.networks.distances import NO_DISTANCE, RECORDED_DISTANCE, draw_distance_us
from replay.networks.queues import PUBLISHED
from replay.recipes.page_recipe import Origin

PUBLISHED_SENDERS, ONE_SENDER = "published", "one"

SENDERS = (PUBLISHED_SENDERS, "unknown-cubic", "unknown-bbr", ONE_SENDER)
"""Values of the column `senders`: each origin's is drawn by published shares, of which the unknown part is in
proportion, all CUBIC at once, or all BBR; or all are alike, by `congestion_control` and the policy."""

HTTP3 = (STAND_IN, AS_TCP) = ("stand-in", "tcp")
"""Values of the column `http3`: what was HTTP/3 keeps one sender whatever the window, TCP with CUBIC, paced,
with ten segments (RFC 9002 §7.2); or it sends as all others do."""

AT_ONCE, PACED, BBR, HTTP3_SENDER = "c", "p", "b", "3"
"""Senders as the player's commands name them (replay/lab/guest/page/senders.h)."""

AT_A_TIME = 200
"""Origins in a command, a line of at most 4,096 characters."""

PLAIN = "origins plain"
"""All origins are at the end of the line and send alike."""


@functools.cache
def read_shares() -> dict[str, tuple[float, float]]:
    """Return the shares of CUBIC at once, and of CUBIC, by mixture."""
    with (PUBLISHED / "senders.csv").open(encoding="utf-8", newline="") as file:
        return {
            row["variant"]: (
                float(row["cubic_percent"]) / 100,
                (float(row["cubic_percent"]) + float(row["cubic_paced_percent"])) / 100,
            )
            for row in csv.DictReader(file)
        }


@dataclass(frozen=True, slots=True)
class OriginSetting:
    """Distance of an origin of a load, and its way of sending."""

    distance_us: int
    sender: str


def origin_settings(
    origins: Sequence[Origin],
    *,
    senders: str,
    distance: str,
    http3: str,
    country: str | None,
    random_state: int,
) -> list[OriginSetting]:
    """Return a page's settings; a host has one distance and, over TCP, one sender.

    `random_state` seeds the draws; `country` is the network's.
    """
    settings = []
    for origin in origins:
        kind, other, place, sending = _uniform(f"{random_state}|{origin.host}")
        if distance == NO_DISTANCE:
            distance_us = 0
        elif distance == RECORDED_DISTANCE and origin.distance_us is not None:
            distance_us = origin.distance_us
        else:
            distance_us = draw_distance_us(distance, country=country, kind=kind, other=other, place=place)
        if origin.is_http3 and http3 == STAND_IN:
            sender = HTTP3_SENDER
        elif senders == ONE_SENDER:
            sender = AT_ONCE
        else:
            at_once, cubic = read_shares()[senders]
            sender = AT_ONCE if sending < at_once else PACED if sending < cubic else BBR
        settings.append(OriginSetting(distance_us, sender))
    return settings


def origin_commands(settings: Sequence[OriginSetting]) -> Iterator[str]:
    if all(setting == OriginSetting(0, AT_ONCE) for setting in settings):
        yield PLAIN
        return
    for first in range(0, len(settings), AT_A_TIME):
        group = settings[first : first + AT_A_TIME]
        yield f"origins {first} {' '.join(f'{setting.distance_us}:{setting.sender}' for setting in group)}"


def _uniform(text: str) -> list[float]:
    digest = hashlib.sha256(text.encode()).digest()
    return [(int.from_bytes(digest[at : at + 8]) >> 11) / 2**53 for at in range(0, 32, 8)]
