"""The file that describes a replay: pages, networks, windows, conditions, and when it ends."""

import dataclasses
import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from replay.networks.distances import DISTANCE
from replay.networks.population_csv import MOST_ROWS
from replay.networks.queues import QUEUES
from replay.networks.stored_populations import CURRENT
from replay.runs.condition_lists import MOST_SEGMENTS, Value, combinations, lists_schema
from replay.runs.conditions import Conditions
from replay.runs.origins import HTTP3, SENDERS
from replay.runs.policy import TEXT, Policy
from storage.toml_values import read_value, read_values
from verdict.arms import ARMS
from verdict.rule import INCUMBENT, RULE, VERSION, Rule

PRESETS = {path.stem: path for path in sorted(Path(__file__).with_name("presets").glob("*.toml"))}

LAST_OF_RULE_6 = "1d8afefd"
"""Last commit that decides by rule 6."""

MOST_WINDOWS = 48
"""Most initial windows. A guest has room for 64, with background and competing flows."""

Text = Annotated[str, Meta(pattern=f"^{TEXT.pattern}$")]


class ReplayFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A replay as its file describes it; a field that the file leaves out has the value of the yearly
    answer."""

    pages: Annotated[
        str | tuple[str, ...],
        Meta(
            description="`recorded`, the pages of August 2025 that come with the code; a crawl's name or a "
            "unique prefix; or HAR files (.har, .har.gz) and logs of DevTools events (.json, .json.gz), of "
            "which each gives its first page."
        ),
    ] = "recorded"
    until: Annotated[
        Literal["decided", "all"],
        Meta(
            description="decided: in stages over networks drawn anew, until each candidate has its verdict. "
            "all: every page over every network at every window, with every seed, under every combination of "
            "`conditions`."
        ),
    ] = "decided"
    rule_version: Annotated[
        Literal[7], Meta(description="decided: version of the rule that decides (docs/protocols).")
    ] = VERSION
    confirms: Annotated[
        str | None,
        Meta(
            description="decided: pages whose answer these are to confirm, named as in `pages`; their sites "
            "are left out, and no guards are asked."
        ),
    ] = None
    candidates: Annotated[
        tuple[Text, ...],
        Meta(
            description="Policies of servers beside the incumbent, such as `16`, `16 paced`, or `20 spread "
            "beyond 100 ms`."
        ),
    ] = tuple(map(str, RULE.candidates))
    incumbent: Annotated[Text, Meta(description="The policy in force.")] = str(RULE.incumbent)
    senders: Annotated[
        str, Meta(description="How servers differ.", extra_json_schema={"enum": [*SENDERS]})
    ] = "published"
    distance: Annotated[
        str,
        Meta(description="How far beyond the network servers lie.", extra_json_schema={"enum": [*DISTANCE]}),
    ] = "recorded"
    http3: Annotated[
        str, Meta(description="How servers send what was HTTP/3.", extra_json_schema={"enum": [*HTTP3]})
    ] = "stand-in"
    queues: Annotated[
        str,
        Meta(
            description="Reading of the published queues of bottlenecks.",
            extra_json_schema={"enum": [*QUEUES]},
        ),
    ] = "default"

    run: Annotated[
        int, Meta(ge=1, description="decided: other runs draw other networks, pages and random events.")
    ] = 1
    budget_minutes: Annotated[float, Meta(gt=0, description="decided: most minutes of a core.")] = 120.0
    arms: Annotated[
        tuple[Annotated[str, Meta(extra_json_schema={"enum": [*ARMS]})], ...],
        Meta(
            description="decided: other inputs that are loaded once all is settled, for the table of who "
            "would decide otherwise."
        ),
    ] = tuple(ARMS)

    max_pages: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="all: pages, sampled evenly by size; without it all."),
    ] = None
    networks: Annotated[
        str | tuple[str, ...],
        Meta(
            description="all: a stored population's id (`firstflight population list`); a CSV file of "
            "networks; or ids of single profiles (docs/populations.md)."
        ),
    ] = CURRENT
    max_networks: Annotated[
        int,
        Meta(
            ge=2,
            le=MOST_ROWS,
            description="all: networks of the population; each stands for a group of like ones.",
        ),
    ] = 8
    population_measured: Annotated[
        str, Meta(description="all: month (YYYY-MM) in which the networks of the CSV file were measured.")
    ] = ""
    population_source: Annotated[str, Meta(description="all: source of the networks of the CSV file.")] = ""
    seeds: Annotated[
        int,
        Meta(
            ge=1,
            le=1000,
            description="all: loads of each page, network, window and condition, which differ in the start "
            "of the page and in the background traffic.",
        ),
    ] = 3
    everyone_pages: Annotated[
        int,
        Meta(
            ge=0,
            description="all: pages that are also loaded on a half-loaded line where all traffic has the "
            "window, and once more at the incumbent by another route.",
        ),
    ] = 0
    responses: Annotated[
        bool, Meta(description="all: also write responses.parquet, times and flights of each response.")
    ] = False
    conditions: Annotated[
        dict[str, Annotated[tuple[Value, ...], Meta(min_length=1)]],
        Meta(
            description="all: values by condition, of which every combination is replayed.",
            extra_json_schema=lists_schema(),
        ),
    ] = {}

    def __post_init__(self) -> None:
        """Raise ValueError, which names the field."""
        self.combinations()
        texts = tuple(str(Policy.parse(text)) for text in self.candidates)
        msgspec.structs.force_setattr(self, "candidates", texts)
        windows = {policy.window for policy in self.loaded}
        if not all(1 <= window <= MOST_SEGMENTS for window in windows):
            raise ValueError(f"candidates and incumbent are windows of 1 to {MOST_SEGMENTS} segments")
        if len(windows) > MOST_WINDOWS:
            raise ValueError(f"candidates: a guest has room for {MOST_WINDOWS}, and these are {len(windows)}")
        if any(policy.beyond_ms is not None for policy in self.loaded) and self.rule.incumbent != INCUMBENT:
            raise ValueError(
                f"incumbent: it is {INCUMBENT} where a policy is for connections beyond a threshold"
            )
        if unknown := sorted({*self.arms} - {*ARMS}):
            raise ValueError(f"arms are {', '.join(ARMS)}, not {', '.join(unknown)}")

    @property
    def loaded(self) -> tuple[Policy, ...]:
        return tuple(sorted({*map(Policy.parse, self.candidates), Policy.parse(self.incumbent)}))

    @property
    def rule(self) -> Rule:
        """The rule with these candidates; one that confirms other pages asks no guards."""
        incumbent = Policy.parse(self.incumbent)
        candidates = tuple(policy for policy in map(Policy.parse, self.candidates) if policy != incumbent)
        shown = tuple(policy for policy in RULE.shown if policy not in (*candidates, incumbent))
        rule = dataclasses.replace(RULE, incumbent=incumbent, candidates=candidates, shown=shown)
        return rule if self.confirms is None else dataclasses.replace(rule, guards=(), shown=())

    @property
    def base(self) -> Conditions:
        """Conditions that the lists in `conditions` vary; ValueError for an unknown word."""
        if self.queues not in QUEUES:
            raise ValueError(f"queues is one of {', '.join(QUEUES)}, not {self.queues}")
        return Conditions(
            senders=self.senders,
            distance=self.distance,
            http3=self.http3,
            queue=None if self.queues == "default" else QUEUES[self.queues],
        )

    @property
    def asked(self) -> dict[str, object]:
        """The values that decide the loads."""
        other = (*OF_ALL, "until") if self.until == "decided" else OF_DECISION
        values = {name: value for name, value in msgspec.to_builtins(self).items() if name not in other}
        if self.confirms is None:
            values.pop("confirms", None)
        return values

    @property
    def checksum(self) -> str:
        """Eight characters, by the values that decide the loads."""
        return hashlib.sha256(msgspec.json.encode(self.asked, order="sorted")).hexdigest()[:8]

    def combinations(self) -> list[Conditions]:
        return combinations(self.conditions, base=self.base)


OF_DECISION = ("rule_version", "confirms", "run", "budget_minutes", "arms")

OF_ALL = (
    "max_pages",
    "networks",
    "max_networks",
    "population_measured",
    "population_source",
    "seeds",
    "everyone_pages",
    "responses",
    "conditions",
)

DEFAULTS: dict[str, Any] = {
    field.name: field.default if field.default is not msgspec.NODEFAULT else {}
    for field in msgspec.structs.fields(ReplayFile)
}


def read_file(file: str | None, settings: Sequence[str] = ()) -> ReplayFile:
    """Return the file or preset, with NAME=VALUE in place of its values.

    ValueError or msgspec.ValidationError, which names the value; OSError.
    """
    path = None
    if file is not None:
        path = PRESETS.get(file, Path(file))
        if not path.is_file():
            raise ValueError(f"{file} is no file and none of the presets {', '.join(PRESETS)}")
    lists = {name for name, value in DEFAULTS.items() if isinstance(value, tuple)}
    values = read_values(path, settings, lists=lists, tables_of_lists={"conditions"})
    if values.get("rule_version", VERSION) != VERSION:
        raise ValueError(
            f"rule_version: this code decides by rule {VERSION}; rule 6 is that of commit {LAST_OF_RULE_6}"
        )
    file_values = msgspec.convert(values, ReplayFile)
    other = OF_ALL if file_values.until == "decided" else OF_DECISION
    if foreign := [name for name in other if name in values]:
        raise ValueError(f"until = {file_values.until} takes no {' and no '.join(foreign)}")
    return file_values


def command_of(asked: Mapping[str, Any], **others: object) -> str:
    """Return the command that replays what was asked, with `others` in place of its values.

    >>> command_of({"run": 2, "arms": []}, pages="2026-11")
    "firstflight replay run edition --set run=2 --set 'arms=[]' --set pages=2026-11"
    >>> command_of({"until": "all", "seeds": 1, "conditions": {"loss": [0.01]}})
    "firstflight replay run --set until=all --set seeds=1 --set 'conditions.loss=[0.01]'"
    """
    values = {**asked, **others}
    lists = values.pop("conditions", {})
    values = {
        name: value
        for name, value in values.items()
        if value is not None and json.dumps(value) != json.dumps(DEFAULTS[name])
    }
    values |= {f"conditions.{name}": value for name, value in lists.items()}
    preset = "" if "until" in values else " edition"
    return f"firstflight replay run{preset}" + "".join(
        f" --set {shlex.quote(f'{name}={_text(value)}')}" for name, value in values.items()
    )


def _text(value: object) -> str:
    is_word = isinstance(value, str) and read_value(value) == value
    return str(value) if is_word else json.dumps(value)


def file_schema() -> dict[str, Any]:
    return {"title": "A replay of firstflight", **msgspec.json.schema(ReplayFile)}
