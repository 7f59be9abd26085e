"""The stored back-cast: backcast.json and cells.parquet, with manifest and checksums, written in one step.

`replay run --until decided` reads it: without a valid back-cast of the same kernel, player and rule,
its answer says so first.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from releases.formatting import interval_text, stated
from releases.interval import Interval
from replay.backcast.calibration import Calibrated
from replay.backcast.measure import Inputs
from replay.lab.player import player_key
from replay.runs.replay_folder import kernel_facts
from reports.backcast.admission import BACKCAST_RULE, Admission
from reports.backcast.judgement import FACTOR, Figure
from reports.recommendation.rule import RULE_VERSION
from schema.computed_tables import CELL
from storage.staging import put_in_place
from storage.sums import broken_sums, checksum_of, seal

FORMAT_VERSION = 1

FILE = "backcast.json"

ORIGIN = ("format_version", "commit", "kernel", "player", "rule_version", "seeds")
"""Fields of backcast.json that its manifest repeats."""

NOT_VALID = "THE INSTRUMENT IS NOT VALID FOR THIS"
"""First words of a report whose back-cast failed."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Whether the replay and the rule are validated by the stored back-cast."""

    is_valid: bool
    sentence: str
    content: Mapping[str, Any] | None = None
    """The back-cast itself; None if there is none that says anything about this code."""
    checksum: str | None = None
    """Checksum of the back-cast's SHA256SUMS; None without `content`."""

    def origin(self) -> dict[str, Any] | None:
        """What identifies the back-cast in a manifest.

        None if there is none that says anything about this code.
        """
        if self.content is None:
            return None
        return {"checksum": self.checksum, **{name: self.content[name] for name in ORIGIN}}


INSTRUMENT = {"kernel": "kernel", "player": "page player", "rule_version": "version of the rule"}
"""Facts of a replay that a back-cast must share, in words."""


def instrument() -> dict[str, Any]:
    """Kernel, player and rule of this code: a back-cast of others says nothing about them."""
    return {"kernel": kernel_facts(), "player": player_key(), "rule_version": RULE_VERSION}


def content_of(
    calibrated: Calibrated, figures: Sequence[Figure], admitted: Admission, *, seeds: int, commit: str
) -> dict[str, Any]:
    """Everything that backcast.json holds."""
    missed = [one for one in figures if one.decides and not one.is_met]
    return {
        "format_version": FORMAT_VERSION,
        "commit": commit,
        **instrument(),
        "factor": FACTOR,
        "seeds": seeds,
        "is_valid": admitted.is_admitted and not missed,
        "missed": [one.what for one in missed],
        "admission": dataclasses.asdict(admitted),
        "figures": [one.to_dict() for one in figures],
        "inputs": {
            **inputs_of(calibrated.inputs),
            "shapes": {service: str(shape) for service, shape in calibrated.shapes.items()},
            "backend_ms": dict(calibrated.backend_ms),
        },
        "tried": [
            {
                "service": one.service,
                "shape": str(one.shape),
                **inputs_of(one.inputs),
                "segments": dict(one.segments),
                "responses": dict(one.responses),
                "error": one.error,
            }
            for one in calibrated.tried
        ],
    }


def inputs_of(inputs: Inputs) -> dict[str, Any]:
    """Inputs as JSON."""
    return {
        "rate_factor": dict(inputs.rate_factor),
        "loss": dict(inputs.loss),
        "burst": inputs.burst,
        "queue_bytes": inputs.queue_bytes,
        "shallow_share": inputs.shallow_share,
    }


def write_backcast(folder: Path, content: Mapping[str, Any], rows: Sequence[dict[str, Any]]) -> None:
    """Write a back-cast with the cells of its experiment;
    an older one stays until the new one is complete."""
    with put_in_place(folder) as stage:
        pq.write_table(
            pa.Table.from_pylist(list(rows), schema=CELL), stage / "cells.parquet", compression="zstd"
        )
        (stage / FILE).write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        seal(stage, {"kind": "backcast", **{name: content[name] for name in ORIGIN}})


def standing(folder: Path, *, of: Mapping[str, Any] | None = None) -> Standing:
    """What the stored back-cast says of an instrument.

    Without one of its kernel, player and rule, it is not validated. `of` has the facts of a replay that name
    its kernel, player and version of the rule; by default they are this code's.
    """
    again = "run `firstflight replay backcast`"
    if not (folder / FILE).is_file():
        return Standing(is_valid=False, sentence=f"Not validated: there is no back-cast; {again}.")
    if broken := broken_sums(folder):
        return Standing(
            is_valid=False,
            sentence=f"Not validated: the back-cast is damaged ({', '.join(broken)}); {again}.",
        )
    content = json.loads((folder / FILE).read_text(encoding="utf-8"))
    facts = instrument() if of is None else {name: of.get(name) for name in INSTRUMENT}
    differing = [INSTRUMENT[name] for name, value in facts.items() if content.get(name) != value]
    if differing:
        return Standing(
            is_valid=False,
            sentence=f"Not validated: the back-cast is of another {' and '.join(differing)}; {again}.",
        )
    return Standing(
        is_valid=content["is_valid"],
        sentence=sentence(content),
        content=content,
        checksum=checksum_of(folder),
    )


def sentence(content: Mapping[str, Any]) -> str:
    """The outcome of a back-cast in a sentence."""
    decisive = [one for one in content["figures"] if one["decides"]]
    met = (
        f"{len(decisive) - len(content['missed'])} of {len(decisive)} published figures of 2010 within a "
        f"factor of {stated(content['factor'])}"
    )
    admitted = "admits" if content["admission"]["is_admitted"] else "does not admit"
    verdict = f"the rule with IW 3 as incumbent {admitted} IW 10, and the replay meets {met}"
    if content["is_valid"]:
        return f"Validated by the back-cast: {verdict}."
    return f"{NOT_VALID}: in the back-cast {verdict}."


def missed_sentence(content: Mapping[str, Any]) -> str:
    """Which deciding figures are missed, and which required bounds of the rule do not hold, in a sentence."""
    decisive = [one for one in content["figures"] if one["decides"]]
    missed = [one["what"] for one in decisive if not one["is_met"]]
    named = (
        f"{len(missed)} of {len(decisive)} ({'; '.join(missed)})" if missed else f"none of {len(decisive)}"
    )
    figures = f"Figures that decide and are missed: {named}"
    optional = {one.title for one in BACKCAST_RULE.margins if not one.is_required}
    broken = [
        _against_limit(one)
        for one in content["admission"]["bounds"]
        if one["verdict"] != "passed" and one["title"] not in optional
    ]
    if not broken:
        return f"{figures}; no required bound of the rule is missed."
    return f"{figures}; bounds of the rule that IW 10 is not shown to keep: {'; '.join(broken)}."


def _against_limit(bound: Mapping[str, Any]) -> str:
    found, unit = bound["worsening"], bound["unit"]
    told = "not measured" if found is None else interval_text(Interval(**found), unit, near=[bound["limit"]])
    return f"{bound['title']}, {told} against a limit of {stated(bound['limit'], unit)}"
