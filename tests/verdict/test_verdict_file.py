"""verdict.json by rule 7: the same bytes for the same loads, read back as it was."""

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest

from replay.errors import ReplayError
from tests.verdict.made_up import FAR, PACED, noisy
from verdict.judgement import Look
from verdict.rule import RULE
from verdict.verdict import PageList, Verdict, verdict_of
from verdict.verdict_file import FILE, decode, encode, write_verdict

RULE_OF_TWO = dataclasses.replace(RULE, candidates=(PACED, FAR), shown=(), guards=())


def make_verdict(order: np.random.Generator | None = None) -> Verdict:
    evidence = noisy(np.random.default_rng(1), 2000, {PACED: (2.0, 0.4), FAR: (6.0, 0.05)})
    if order is not None:
        places = order.permutation(len(evidence))
        evidence = dataclasses.replace(
            evidence,
            visits=evidence.visits[places],
            places=evidence.places[places],
            values={name: array[places] for name, array in evidence.values.items()},
            again={name: array[places] for name, array in evidence.again.items()},
        )
    own = PageList(looks=(Look(evidence=evidence),), rule=RULE_OF_TWO, month="2025-08", crawl="2025-08")
    other = dataclasses.replace(own, crawl="2023-11", month="2023-11")
    return verdict_of(own, [other], ends=True)


def test_equal_loads_in_any_order_make_equal_bytes() -> None:
    assert encode(make_verdict()) == encode(make_verdict()) == encode(make_verdict(np.random.default_rng(4)))


def test_what_is_stored_is_read_back_to_the_last_stored_digit(tmp_path: Path) -> None:
    verdict = make_verdict()
    path = write_verdict(tmp_path, verdict)
    assert path == tmp_path / FILE
    read = decode(path.read_bytes())
    assert (read.rule, read.policy, read.sentences) == (verdict.rule, FAR, verdict.sentences)
    assert read.of(FAR).per_load_pp is not None
    assert encode(read) == path.read_bytes()


def test_policies_are_texts_and_what_is_unknown_is_null() -> None:
    stored = encode(make_verdict())
    data = json.loads(stored)
    assert data["policy"] == "16 paced beyond 100 ms"
    slow = next(each for each in data["candidates"][0]["beside"] if each["id"] == "short flows")
    assert slow["interval"] == {"estimate": None, "lower": None, "upper": None}
    (read,) = (each for each in decode(stored).of(PACED).beside if each.id == "short flows")
    assert math.isnan(read.interval.estimate)
    assert (read.interval.lower, read.interval.upper) == (-math.inf, math.inf)


@pytest.mark.parametrize("stored", [b"{", b"[]", b'{"format_version": 1}', b'{"format_version": 2}'])
def test_what_is_no_verdict_is_refused(stored: bytes) -> None:
    with pytest.raises(ReplayError):
        decode(stored)
