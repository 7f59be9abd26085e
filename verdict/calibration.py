"""The back-cast as calibration: which quantities the replay measures as 2010's experiment did, and whether
the rule chooses IW 10 over 2010's networks. What queues drop more at IW 10 is the mechanism that the price
of a window rests on: where the back-cast misses it, or there is no back-cast, the confidence is low. Only a
damaged one silences an answer.

backcast/backcast.json cells.parquet manifest.json SHA256SUMS, written in one step. The result of one comes
with the code (SHIPPED), and counts where the data folder has none of the same kernel, player and rule.
"""

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from releases.formatting import quantity, stated
from replay.backcast.calibration import Calibrated
from replay.backcast.experiment import Experiment, production
from replay.backcast.measure import (
    Inputs,
    Rows,
    latencies_ms,
    mean_and_quantiles,
    responses_percent,
    segments_percent,
)
from replay.backcast.networks import populations
from replay.backcast.published import (
    BASE,
    CANDIDATES,
    DATA_CENTERS,
    EXPERIMENT,
    LATENCY,
    QUANTILES,
    RESPONSES,
    RETRANSMITTED,
    SERVICES,
    DataCenter,
    Service,
    mix,
)
from replay.errors import ReplayError
from replay.lab.player import player_key
from replay.runs.facts import KernelFacts
from replay.runs.policy import Policy, at_once
from replay.runs.replay_folder import kernel_facts, read_cells
from schema.computed_tables import CELL
from storage.staging import put_in_place
from storage.sums import broken_sums, checksum_of, seal, sha256
from verdict.estimates import GAIN, NET_BENEFIT, RESENT, measure, name_of
from verdict.evidence import CELL_COLUMNS, Evidence, evidence_of, weighted_networks
from verdict.judgement import Kind, Look, Reason, judge
from verdict.rule import RULE, UNITS, VERSION

FORMAT_VERSION = 3

FILE = "backcast.json"

SHIPPED = Path(__file__).with_name(FILE)

FACTOR = 2.0
"""Largest factor either way between a published figure and ours at which the quantity may decide. Ours, fixed
before the first run."""

ORIGIN = ("format_version", "commit", "kernel", "player", "rule_version", "seeds")
"""Fields of backcast.json that its manifest repeats."""

INSTRUMENT = {"kernel": "kernel", "player": "page player", "rule_version": "version of the rule"}
"""Facts that a back-cast must share, in words."""

BACKCAST_RULE = dataclasses.replace(
    RULE,
    incumbent=Policy(BASE),
    candidates=tuple(policy for policy in at_once(*CANDIDATES) if policy != Policy(BASE)),
    shown=(),
    guards=(),
)
"""The rule with the 2010 paper's candidates and incumbent, and without guards, of which it measured
nothing.
"""

AGAIN = "run `firstflight replay backcast`"
MISSING = f"There is no back-cast; {AGAIN}."

ESTIMATES = {"gain_percent": GAIN, "resent_pp": RESENT, "net_benefit_pp": NET_BENEFIT}
"""Quantities of a candidate, in each unit."""

Half = Literal["calibration", "judgement"]

AGAIN_MORE = "more segments sent again at IW 10"

OVERFLOW = "more segments dropped by queues at IW 10"

CENTERS = {"AvgDC": "average", "SlowDC": "slow"}

PRECEDENT = frozenset({"page", "resent"})


@dataclass(frozen=True, slots=True)
class CalibratedFigure:
    """A published figure and ours."""

    what: str
    unit: str
    half: Half
    quantity: str | None
    """The quantity of verdict.effects that it calibrates."""
    center: DataCenter
    published: float
    ours: float

    @property
    def factor(self) -> float | None:
        """Ours over the published; None if they differ in sign."""
        return self.ours / self.published if self.ours * self.published > 0 else None

    @property
    def is_met(self) -> bool:
        return self.factor is not None and 1 / FACTOR <= self.factor <= FACTOR

    def to_dict(self) -> dict[str, object]:
        return {**dataclasses.asdict(self), "factor": self.factor, "is_met": self.is_met}


class Choice(TypedDict):
    """What the rule does over a data centre's networks."""

    kind: Kind
    window: str
    """The policy as text."""
    candidates: list[dict[str, Any]]
    """Each window with its standing, as `verdict`, and its ESTIMATES in each unit."""


class Instrument(TypedDict):
    """What loads and judges: a back-cast of another instrument says nothing about this one."""

    kernel: KernelFacts
    player: str
    rule_version: int


class BackCast(Instrument):
    """The content of backcast.json."""

    format_version: int
    commit: str
    factor: float
    seeds: int
    figures: list[dict[str, Any]]
    """Each CalibratedFigure with its factor."""
    choices: dict[DataCenter, Choice]
    inputs: dict[str, Any]
    """Calibrated inputs, shapes of pages and times of back ends."""
    tried: list[dict[str, Any]]
    """What else was tried for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackCastFinding:
    """The finding of the stored back-cast about an instrument."""

    content: BackCast | None
    """None if there is none of this kernel, player and rule."""
    sentence: str
    checksum: str | None = None
    """Of its SHA256SUMS, or of the file that comes with the code."""
    is_damaged: bool = False

    @property
    def broken(self) -> tuple[str, ...]:
        return (self.sentence,) if self.is_damaged else ()

    @property
    def reasons(self) -> tuple[Reason, ...]:
        if self.content is None:
            return () if self.is_damaged else (Reason(level="low", sentence=self.sentence),)
        missed = [
            f"From IW {BASE} to {EXPERIMENT}, what the {CENTERS[figure.center]} data centre of 2010 sent "
            f"again rose by {figure.published:.2g} {figure.unit}; in the replay, what queues drop rises by "
            f"{figure.ours:.2g} {figure.unit}."
            for figure in self.find_missed("resent")
        ]
        return (
            *(Reason(level="low", sentence=sentence) for sentence in missed),
            *(
                Reason(
                    level="medium" if is_open(choice) else "low",
                    sentence=f"Over the networks of the {CENTERS[center]} data centre of 2010 the rule "
                    f"{outcome(choice)}{_estimates(choice) if is_open(choice) else ''}.",
                )
                for center, choice in self.content["choices"].items()
                if Policy.parse(choice["window"]) != Policy(EXPERIMENT)
            ),
        )

    def find_missed(self, quantity: str) -> list[CalibratedFigure]:
        return [
            figure
            for figure in (figures_in(self.content) if self.content else ())
            if figure.quantity == quantity and not figure.is_met
        ]

    def origin(self) -> dict[str, object] | None:
        if self.content is None:
            return None
        return {"checksum": self.checksum, **origin_facts(self.content)}


def origin_facts(content: BackCast) -> dict[str, object]:
    return {name: fact for name, fact in content.items() if name in ORIGIN}


def figures_of(loads: Experiment, calibrated: Calibrated) -> Iterator[CalibratedFigure]:
    for center in DATA_CENTERS:
        first: Half = "calibration"
        second: Half = "judgement"
        (mean, quantiles), (mean_10, quantiles_10) = (
            _latency(loads, calibrated, center, iw) for iw in (BASE, EXPERIMENT)
        )
        base, ten = LATENCY[center, BASE], LATENCY[center, EXPERIMENT]
        yield CalibratedFigure(
            f"{center}: mean latency of search at IW 3", "ms", first, None, center, base.mean, mean
        )
        gains = _gain(base.mean, ten.mean), _gain(mean, mean_10)
        yield CalibratedFigure(f"{center}: mean gain of search", "%", second, "page", center, *gains)
        for share, *latencies in zip(
            QUANTILES, base.quantiles, ten.quantiles, quantiles, quantiles_10, strict=True
        ):
            gains = _gain(*latencies[:2]), _gain(*latencies[2:])
            yield CalibratedFigure(
                f"{center}: gain of search at p{100 * share:g}", "%", second, None, center, *gains
            )
        names: tuple[Service | Literal["all"], ...] = (*SERVICES, "all")
        for name in names:
            published, quantity = RETRANSMITTED[center, name], "resent" if name == "all" else None
            again, dropped = (
                [_segments(loads, center, name, iw, part) for iw in (BASE, EXPERIMENT)]
                for part in ("segments_retransmitted", "segments_dropped")
            )
            rise = published[EXPERIMENT] - published[BASE]
            what = f"{center}, {name}: segments sent again at IW 3"
            yield CalibratedFigure(what, "%", first, None, center, published[BASE], again[0])
            what = f"{center}, {name}: {AGAIN_MORE}"
            yield CalibratedFigure(what, "pp", second, None, center, rise, again[1] - again[0])
            what = f"{center}, {name}: {OVERFLOW}"
            yield CalibratedFigure(what, "pp", second, quantity, center, rise, dropped[1] - dropped[0])
        for service in SERVICES:
            published = RESPONSES[center, service]
            ours = [responses_percent(loads[center, service], center, iw) for iw in (BASE, EXPERIMENT)]
            rises = published[EXPERIMENT] - published[BASE], ours[1] - ours[0]
            what = f"{center}, {service}: responses with any at IW 3"
            yield CalibratedFigure(what, "%", first, None, center, published[BASE], ours[0])
            what = f"{center}, {service}: more responses with any at IW 10"
            yield CalibratedFigure(what, "pp", second, "responses", center, *rises)


def _gain(before: float, after: float) -> float:
    return 100 * (before - after) / before


def _latency(
    experiment: Experiment, calibrated: Calibrated, center: DataCenter, iw: int
) -> tuple[float, tuple[float, ...]]:
    values, weights = latencies_ms(experiment[center, "search"], center, calibrated.inputs, iw)
    return mean_and_quantiles(values + np.float64(calibrated.backend_ms[center]), weights)


def _segments(
    experiment: Experiment, center: DataCenter, name: Service | Literal["all"], iw: int, part: str
) -> float:
    if name == "all":
        return sum(
            share * segments_percent(experiment[center, service], center, iw, part)
            for service, share in mix().items()
        )
    return segments_percent(experiment[center, name], center, iw, part)


def evidence_of_2010(rows: Rows, center: DataCenter) -> Evidence:
    population = next(population for population in populations() if population.id.startswith(center.lower()))
    networks = weighted_networks([dataclasses.replace(population, slow=False)])
    table = pa.table({name: [row[name] for row in rows] for name in CELL_COLUMNS})
    return evidence_of(table, networks, incumbent=Policy(BASE))


def choose_windows(experiment: Experiment, calibrated: Calibrated) -> dict[DataCenter, Choice]:
    """Return the rule's choice over each data centre's networks, in both units."""
    rows = production(experiment, calibrated.backend_ms)
    choices: dict[DataCenter, Choice] = {}
    for center in DATA_CENTERS:
        look = Look(evidence=evidence_of_2010(rows, center))
        answer = judge([look], BACKCAST_RULE, ends=True)
        effects = measure(look.evidence, BACKCAST_RULE.candidates, BACKCAST_RULE)
        choices[center] = {
            "kind": answer.kind,
            "window": str(answer.policy),
            "candidates": [
                {"window": str(judged.policy), "verdict": judged.standing}
                | {
                    unit: {
                        key: effects.of(name_of(quantity, unit), judged.policy).value
                        for key, quantity in ESTIMATES.items()
                    }
                    for unit in UNITS
                }
                for judged in answer.judgements
            ],
        }
    return choices


def figures_in(content: BackCast) -> list[CalibratedFigure]:
    return msgspec.convert(content["figures"], list[CalibratedFigure])


def content_of(
    calibrated: Calibrated,
    figures: Sequence[CalibratedFigure],
    choices: Mapping[DataCenter, Choice],
    *,
    seeds: int,
    commit: str,
) -> BackCast:
    return {
        "format_version": FORMAT_VERSION,
        "commit": commit,
        **instrument(),
        "factor": FACTOR,
        "seeds": seeds,
        "figures": [figure.to_dict() for figure in figures],
        "choices": dict(choices),
        "inputs": {
            **dataclasses.asdict(calibrated.inputs),
            "shapes": {service: str(shape) for service, shape in calibrated.shapes.items()},
            "backend_ms": dict(calibrated.backend_ms),
        },
        "tried": [
            {
                "service": trial.service,
                "shape": str(trial.shape),
                **dataclasses.asdict(trial.inputs),
                "segments": dict(trial.segments),
                "responses": dict(trial.responses),
                "error": trial.error,
            }
            for trial in calibrated.tried
        ],
    }


def instrument() -> Instrument:
    return {"kernel": kernel_facts(), "player": player_key(), "rule_version": VERSION}


def write_backcast(folder: Path, content: BackCast, rows: Rows) -> None:
    with put_in_place(folder) as stage:
        pq.write_table(
            pa.Table.from_pylist(list(rows), schema=CELL), stage / "cells.parquet", compression="zstd"
        )
        (stage / FILE).write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        seal(stage, {"kind": "backcast", **origin_facts(content)})


def judge_stored(folder: Path) -> BackCast:
    """Return a stored back-cast of this kernel and player, judged by this code's rule; ReplayError if
    there is none.
    """
    if not (folder / FILE).is_file() or broken_sums(folder):
        raise ReplayError(f"There is no whole back-cast in {folder}; {AGAIN}.")
    content: BackCast = json.loads((folder / FILE).read_text(encoding="utf-8"))
    own = instrument()
    if other := [INSTRUMENT[name] for name in ("kernel", "player") if content.get(name) != own.get(name)]:
        raise ReplayError(f"The loads in {folder} are of another {' and '.join(other)}; {AGAIN}.")
    rows = read_cells(folder).to_pylist()
    loads = {
        (center, service): [
            row
            for row in rows
            if (row["profile"].rpartition("-")[0], row["page"].rpartition("-")[0])
            == (center.lower(), service)
        ]
        for center in DATA_CENTERS
        for service in SERVICES
    }
    inputs = dict(content["inputs"])
    shapes, backend_ms = inputs.pop("shapes"), inputs.pop("backend_ms")
    calibrated = Calibrated(inputs=Inputs(**inputs), shapes=shapes, backend_ms=backend_ms, tried=())
    judged = content_of(
        calibrated,
        tuple(figures_of(loads, calibrated)),
        choose_windows(loads, calibrated),
        seeds=content["seeds"],
        commit=content["commit"],
    )
    return {**judged, "tried": content["tried"]}


def read_finding(folder: Path, *, of: Mapping[str, object] | None = None) -> BackCastFinding:
    """Return what the stored back-cast, or else the shipped one, says of an instrument.

    `of` has a replay's kernel, player and version of the rule; by default this code's.
    """
    of = instrument() if of is None else of
    shipped = _finding(json.loads(SHIPPED.read_text(encoding="utf-8")), of, sha256(SHIPPED))
    if not (folder / FILE).is_file():
        return shipped
    if broken := broken_sums(folder):
        sentence = f"The back-cast in {folder} is damaged ({', '.join(broken)}): move it away, or {AGAIN}."
        return BackCastFinding(content=None, sentence=sentence, is_damaged=True)
    own = _finding(json.loads((folder / FILE).read_text(encoding="utf-8")), of, checksum_of(folder))
    return shipped if own.content is None and shipped.content is not None else own


def finding_of(
    content: BackCast | None, origin: Mapping[str, Any] | None, *, of: Mapping[str, object]
) -> BackCastFinding:
    """Return what a report's back-cast says of a replay; `origin` is what the report states of it."""
    if content is None:
        return BackCastFinding(content=None, sentence=MISSING)
    return _finding(content, of, origin["checksum"] if origin else None)


def _finding(content: BackCast, of: Mapping[str, object], checksum: str | None) -> BackCastFinding:
    if content.get("format_version") != FORMAT_VERSION:
        return BackCastFinding(content=None, sentence=f"The back-cast is of another format; {AGAIN}.")
    other = " and ".join(what for name, what in INSTRUMENT.items() if content.get(name) != of.get(name))
    if other:
        # No back-cast of this code is judged by another rule than its own.
        remedy = f"; {AGAIN}" if of.get("rule_version") == VERSION else ""
        return BackCastFinding(content=None, sentence=f"The back-cast is of another {other}{remedy}.")
    return BackCastFinding(content=content, sentence=sentence(content), checksum=checksum)


def sentence(content: BackCast) -> str:
    figures = figures_in(content)
    own = [figure for figure in figures if figure.quantity in PRECEDENT]
    met = f"{sum(figure.is_met for figure in own)} of {len(own)} figures of 2010"
    outcomes = " and ".join(
        f"{outcome(choice)} ({CENTERS[center]} data centre)" for center, choice in content["choices"].items()
    )
    return (
        f"Asked about 2010, the replay meets {met} within a factor of {stated(content['factor'])}, and the "
        f"rule {outcomes}.{_mechanism(figures)}"
    )


def is_open(choice: Choice) -> bool:
    return bool(choice["kind"] == "open" and _of_ten(choice)["verdict"] == "open")


def outcome(choice: Choice) -> str:
    if is_open(choice):
        return f"leaves IW {EXPERIMENT} open"
    return f"keeps IW {BASE}" if choice["kind"] != "raise" else f"chooses IW {choice['window']}"


def _estimates(choice: Choice) -> str:
    ten = _of_ten(choice)
    units = (f"{quantity(ten[unit]['net_benefit_pp'], 'pp', 2)} {unit}" for unit in UNITS)
    return f", with a net benefit of {' and '.join(units)}"


def _of_ten(choice: Choice) -> Mapping[str, Any]:
    return next(candidate for candidate in choice["candidates"] if candidate["window"] == str(EXPERIMENT))


def _mechanism(figures: Sequence[CalibratedFigure]) -> str:
    """Return how much more is sent again and dropped by queues."""
    ours = {figure.what: figure.ours for figure in figures}
    again, dropped = (
        [ours.get(f"{center}, all: {what}") for center in DATA_CENTERS] for what in (AGAIN_MORE, OVERFLOW)
    )
    if None in dropped:
        return ""
    more, of_queues = (" and ".join(f"{each:.2f}" for each in rises) for rises in (again, dropped))
    return f" At IW {EXPERIMENT} it sends {more} pp more segments again, and queues drop {of_queues} pp more."
