"""Made-up worlds for a replay in stages: pages, networks and loads whose true effects are known."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from replay.networks.profiles import Population, Profile
from replay.recipes.page_recipe import Object, Origin, Recipe
from replay.runs.cells import Cell, row
from replay.runs.conditions import Conditions
from replay.runs.initial_window import Paced
from replay.runs.replay_folder import population_facts
from reports.decision.problem import Problem
from reports.decision.until_decided import Loaded
from reports.recommendation.rule import MARGINS, Margin, Rule

INCUMBENT = 10


def recipe(number: int, size: int) -> Recipe:
    """A page of one response."""
    origin = Origin(host="origin", port=443, h2=True, tls_flight_bytes=3_000, tls_after_bytes=0)
    only = Object(response_id=1, origin=0, parent=-1, response_bytes=size, is_document=True)
    return Recipe(page=f"page{number}", visit_id=number, origins=(origin,), objects=(only,), left_out=0)


def network(number: int) -> Profile:
    """A network, the faster the higher its number."""
    rate = 1_000_000 * 2**number
    return Profile(
        id=f"network{number}",
        version=1,
        down_bps=rate,
        up_bps=rate,
        rtt_us=50_000,
        queue_bytes=64_000,
        source="made up",
    )


def ordinary(*ids: str) -> tuple[Margin, ...]:
    """Margins of the rule, asked in ordinary loads alone."""
    return tuple(dataclasses.replace(one, asked_in=("ordinary",)) for one in MARGINS if one.id in ids)


def problem(
    *,
    pages: int = 60,
    networks: int = 3,
    windows: Sequence[int] = (10, 16, 30),
    margins: tuple[Margin, ...] | None = None,
    run: int = 1,
) -> Problem:
    """A question over made-up pages and networks, with few margins and an A/A
    tolerance that few draws reach."""
    told = ordinary("retransmitted_bytes_average", "slow_mean") if margins is None else margins
    profiles = tuple(network(number) for number in range(networks))
    weights = tuple((one.id, 1 / networks) for one in profiles)
    whole = Population(
        id="world", version=1, weights=weights, slow=False, measured="2026-10", source="made up"
    )
    slow = dataclasses.replace(whole, id="world-slow", weights=((profiles[0].id, 1.0),), slow=True)
    return Problem(
        recipes=tuple(recipe(number, 20_000 + 3_000 * number) for number in range(1, pages + 1)),
        networks=profiles,
        populations=(whole, slow),
        windows=tuple(windows),
        incumbent=INCUMBENT,
        run=run,
        rule=dataclasses.replace(Rule(), margins=told, harm_conditions=(), aa_tolerance_percent=3.0),
    )


def plan_of(asked: Problem) -> dict[str, Any]:
    """What a stage states of the question, as far as it is read back."""
    return {
        "rule_version": asked.rule.version,
        "parameters": {"conditions": [Conditions().columns()], "windows": list(asked.windows)},
        "recipes": {"pages": len(asked.recipes)},
        "profiles": [{**dataclasses.asdict(one), "bdp_bytes": one.bdp_bytes} for one in asked.networks],
        "populations": [population_facts(one) for one in asked.populations],
        "run": asked.run,
        "candidates": list(map(repr, asked.windows)),
    }


@dataclasses.dataclass(kw_only=True)
class World:
    """True effects of each window, and the chance around them."""

    saves: dict[int, float]
    """Mean log ratio of page time to the incumbent's."""
    sends_again: dict[int, float]
    """Percentage points of bytes sent again beyond the incumbent's."""
    seed: int = 1
    of_page: float = 0.05
    """Spread of the log ratio between pages."""
    of_load: float = 0.03
    """Spread of the log ratio between loads of a page."""
    second_s: float = 0.001
    """Time of a load, in seconds."""

    def load(self, cells: Sequence[Cell]) -> Loaded:
        """The rows of loads; a load depends on nothing but its page, network, window and seed."""
        rows = [self.row(cell) for cell in cells]
        seconds = self.second_s * len(rows)
        return Loaded(rows=rows, wall_s=seconds, core_s=seconds)

    def row(self, cell: Cell) -> dict[str, Any]:
        """The row of one load."""
        page, window = cell.recipe.visit_id, Paced(cell.iw) if cell.conditions.pacing else cell.iw
        sender = cell.iw + 1000 * cell.conditions.pacing
        of_page = np.random.default_rng([self.seed, page, sender]).normal()
        rng = np.random.default_rng([self.seed, page, sender, cell.seed, cell.profile.down_bps // 1_000_000])
        change = self.saves.get(window, 0.0) + (self.of_page * of_page if window != INCUMBENT else 0.0)
        page_ms = 1_000 * math.exp(change + self.of_load * rng.normal())
        again = 0.03 + self.sends_again.get(window, 0.0) / 100
        sent = 100_000.0
        facts = {
            "page_ns": page_ms * 1e6,
            "payload_bytes": int(sent),
            "bytes_retransmitted": int(sent * again * rng.gamma(2.0, 0.5)),
            "responses": 10,
            "responses_own_retransmitted": 1,
            "connections": 5,
            "connections_initial_loss": 1,
            "bottleneck_drops": 1,
        }
        return row(cell, "done", None, facts)
