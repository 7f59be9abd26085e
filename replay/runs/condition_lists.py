"""Lists of conditions as a file has them: values by field of Conditions, of which every combination is
replayed."""

import dataclasses
import itertools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from replay.lab.kernel import congestion_controls
from replay.networks.distances import DISTANCE
from replay.networks.profiles import DISCIPLINES, FRAME_BYTES
from replay.networks.queues import MOST_BYTES, QUEUES, PublishedQueues
from replay.recipes.variants import HTTP
from replay.runs.buffers import RECEIVERS, SEND_BUFFERS
from replay.runs.conditions import (
    DISCOVERY,
    HANDSHAKES,
    RECORDS,
    REQUESTS,
    Competition,
    Conditions,
    Loss,
    OtherQueue,
)
from replay.runs.origins import HTTP3, SENDERS

CONGESTION_CONTROLS = congestion_controls()
MOST_LOSS = 0.5
MOST_COMPETING_FLOWS = 64
MOST_BDP = 16
MOST_SEGMENTS = 250
"""Largest initial window: each needs its own address in the guest's client."""

LOSS = re.compile(r"(0?\.\d+|0)(?:x(\d+(?:\.\d+)?))?", re.ASCII)
QUEUE = re.compile(r"(\d+(?:\.\d+)?)(BDP|B)", re.ASCII)
COMPETITION = re.compile(r"(\d{1,3})x([a-z]+)@(\d{1,3})", re.ASCII)

Value = bool | float | str


def read_loss(word: str) -> Loss | None:
    if word == "own":
        return None
    match = LOSS.fullmatch(word)
    if not match:
        raise ValueError(word)
    loss = Loss(share=float(match[1]), burst=float(match[2] or 1))
    if loss.share > MOST_LOSS or loss.burst < 1:
        raise ValueError(word)
    return loss


def read_competition(word: str) -> Competition | None:
    if word == "none":
        return None
    match = COMPETITION.fullmatch(word)
    if not match:
        raise ValueError(word)
    competition = Competition(flows=int(match[1]), congestion_control=match[2], iw=int(match[3]))
    is_known = competition.congestion_control in CONGESTION_CONTROLS
    if not (
        is_known and 1 <= competition.flows <= MOST_COMPETING_FLOWS and 1 <= competition.iw <= MOST_SEGMENTS
    ):
        raise ValueError(word)
    return competition


def read_queue(word: str) -> OtherQueue | PublishedQueues | None:
    """Read a discipline, a size with tail drop, or a reading of the published queues."""
    if word == "own":
        return None
    if word in QUEUES:
        return QUEUES[word]
    if word in DISCIPLINES and word != "tail-drop":
        return OtherQueue(discipline=word)
    match = QUEUE.fullmatch(word)
    if not match:
        raise ValueError(word)
    size = float(match[1])
    if match[2] == "BDP" and MOST_BDP >= size > 0:
        return OtherQueue(bdp=size)
    if match[2] == "B" and 2 * FRAME_BYTES <= size <= MOST_BYTES:
        return OtherQueue(bytes=int(size))
    raise ValueError(word)


WORDS: Mapping[str, Collection[str]] = {
    "congestion_control": CONGESTION_CONTROLS,
    "senders": SENDERS,
    "distance": DISTANCE,
    "http3": HTTP3,
    "tls_records": RECORDS,
    "discovery": DISCOVERY,
    "tls_handshake": HANDSHAKES,
    "requests": REQUESTS,
    "receiver": RECEIVERS,
    "http": HTTP,
    "send_buffer": SEND_BUFFERS,
}

FLAGS = ("server_delay", "warm_cache", "resolves_names", "prioritised")

READERS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "loss": (read_loss, f"own, a share up to {MOST_LOSS} such as 0.01, or a share in bursts such as 0.01x4"),
    "competition": (
        read_competition,
        f"none, or up to {MOST_COMPETING_FLOWS} flows as FLOWSxCONTROL@IW, such as 2xbbr@10; controls are "
        f"{', '.join(CONGESTION_CONTROLS)}",
    ),
    "queue": (
        read_queue,
        f"own, fq_codel, cake, {', '.join(QUEUES)}, or a size such as 1BDP (up to {MOST_BDP}) or 65536B (up "
        f"to {MOST_BYTES:,})",
    ),
}


def read_value(field: str, value: Value) -> Any:  # noqa: ANN401  # the type of the field of Conditions
    """Return a field's value; ValueError, which names the field."""
    if field in FLAGS:
        if isinstance(value, bool):
            return value
        raise ValueError(f"conditions.{field} is true or false, not {value!r}")
    if field in WORDS:
        if value in WORDS[field]:
            return value
        raise ValueError(f"conditions.{field} is one of {', '.join(WORDS[field])}, not {value!r}")
    if field in READERS:
        reader, allowed = READERS[field]
        try:
            return reader(str(value))
        except ValueError as exc:
            raise ValueError(f"conditions.{field} is {allowed}, not {value!r}") from exc
    raise ValueError(f"conditions has no {field}; there are {', '.join((*WORDS, *FLAGS, *READERS))}")


def combinations(lists: Mapping[str, Sequence[Value]], *, base: Conditions) -> list[Conditions]:
    """Return every combination, with the other fields of `base`; ValueError."""
    values_by_field = {
        field: dict.fromkeys(read_value(field, value) for value in values) for field, values in lists.items()
    }
    return [
        dataclasses.replace(base, **dict(zip(values_by_field, chosen, strict=True)))
        for chosen in itertools.product(*values_by_field.values())
    ]


def lists_schema() -> dict[str, object]:
    of_field: dict[str, dict[str, Any]] = {
        **{field: {"enum": list(words)} for field, words in WORDS.items()},
        **{field: {"type": "boolean"} for field in FLAGS},
        **{field: {"type": ["string", "number"], "description": READERS[field][1]} for field in READERS},
    }
    return {
        "propertyNames": {"enum": [*of_field]},
        "properties": {
            field: {"type": "array", "items": of, "minItems": 1} for field, of in of_field.items()
        },
    }
