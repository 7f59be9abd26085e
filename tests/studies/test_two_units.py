"""The edition's loads in two units: estimates against figures that were computed apart from this code."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from replay.runs.policy import PACED, Policy
from studies.two_units.emulated import emulate, read_edition, read_looks, with_sites
from tests.verdict.made_up import TEN, evidence_of
from verdict.estimates import GAIN, NET_BENEFIT, RESENT, measure, name_of
from verdict.rule import IN_SUM, PER_LOAD, RULE

LOADED = Path(__file__).parents[2] / "studies" / "two_units" / "version-2"

APART = {  # estimate and 1.96 errors, by site
    (GAIN, PER_LOAD): (2.94, 0.28),
    (RESENT, PER_LOAD): (0.260, 0.053),
    (NET_BENEFIT, PER_LOAD): (0.0, 0.061),
    (GAIN, IN_SUM): (1.38, 0.33),
    (RESENT, IN_SUM): (0.329, 0.122),
    (NET_BENEFIT, IN_SUM): (-0.248, 0.123),
}
"""16 paced for all over the edition's loads, version 2, by a program of its own."""


def test_16_paced_for_all_is_as_another_program_has_it() -> None:
    looks = read_looks(read_edition(LOADED))
    evidence = with_sites(looks[-1].evidence)
    assert len(np.unique(evidence.clusters)) == 500
    policy = Policy(16, PACED)
    effects = measure(evidence, [policy], RULE)
    for (quantity, unit), (value, half) in APART.items():
        estimate = effects.of(name_of(quantity, unit), policy)
        assert estimate.value == pytest.approx(value, abs=0.005)
        assert 1.96 * estimate.error == pytest.approx(half, abs=0.006)


def test_a_policy_for_far_loads_is_read_off_that_for_all() -> None:
    wide = Policy(16, PACED)
    evidence = evidence_of(
        {TEN: (np.full(3, 1000.0), np.zeros(3)), wide: (np.array([900.0, 800.0, np.nan]), np.zeros(3))},
        handshake_ms=np.array([50.0, 150.0, 50.0]),
    )
    far = emulate(evidence, [100]).at(dataclasses.replace(wide, beyond_ms=100))
    assert np.array_equal(far["page_ms"], [1000.0, 800.0, np.nan], equal_nan=True)
