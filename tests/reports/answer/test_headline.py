"""The headline: one of four, and nothing is claimed by an instrument that is not valid."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from releases.cdf import Cdf
from releases.interval import Interval
from reports.answer.headline import answer
from reports.answer.key_numbers import fits_number, rival
from reports.answer.shape import Answer, Findings, KeyNumber, Mark, VerdictCell
from reports.backcast.stored import Standing
from tests.factories.findings import DECIDING, findings

VALID = Standing(is_valid=True, sentence="Validated.", content={})
MISSED: dict[str, Any] = {
    "factor": 2.0,
    "admission": {"is_admitted": False},
    "figures": [
        {
            "what": "mean gain of search",
            "unit": "%",
            "published": 11.7,
            "ours": 3.0,
            "decides": True,
            "is_met": False,
        },
        {"what": "sent again", "unit": "pp", "published": 0.3, "ours": 0.4, "decides": True, "is_met": True},
    ],
}
INVALID = Standing(is_valid=False, sentence="not valid", content=MISSED)
FITS = KeyNumber(id="fits", label="of first flights fit", unit="%", value=60.0)


def said(
    found: Findings | None,
    *,
    instrument: Standing = VALID,
    illustrative: tuple[str, ...] = (),
    is_recorded: bool = False,
) -> Answer:
    return answer(
        found,
        instrument=instrument,
        illustrative_because=illustrative,
        is_recorded=is_recorded,
        fits=FITS,
        replay_command="firstflight replay run",
    )


def test_a_window_that_the_rule_chooses_is_recommended_with_its_gain_and_its_interval() -> None:
    found = said(findings(iw=16))
    assert (found.kind, found.headline, found.iw) == ("recommended", "IW 16 is recommended", 16)
    assert "4.00\u202f% (3.50\u20134.50)" in found.sentence
    assert (found.first_line, found.rule_says, found.deciding) == (None, None, None)
    assert found.confidence.level == "high"


def test_a_settled_no_is_no_lack_of_evidence() -> None:
    settled, unsettled = said(findings()), said(findings(is_decided=False))
    assert (settled.kind, settled.headline) == ("stays", "IW 10 stays")
    assert (unsettled.kind, unsettled.headline) == ("undecided", "Undecided")
    assert settled.deciding is None
    assert unsettled.deciding == DECIDING


@pytest.mark.parametrize("found", [findings(iw=16), findings(), findings(is_decided=False)])
@pytest.mark.parametrize(
    ("instrument", "illustrative", "because"),
    [
        (INVALID, (), "the instrument is not valid"),
        (Standing(is_valid=False, sentence="There is no back-cast."), (), "not shown to be valid"),
        (VALID, ("the population is more than 24 months old",), "24 months"),
    ],
)
def test_whatever_the_rule_says_nothing_is_said_that_is_not_allowed(
    found: Findings, instrument: Standing, illustrative: tuple[str, ...], because: str
) -> None:
    told = said(found, instrument=instrument, illustrative=illustrative)
    assert (told.kind, told.headline, told.iw) == ("not allowed", "Not allowed to say", None)
    assert because in told.sentence
    assert told.confidence.level == "none"
    assert told.first_line
    assert told.rule_says


def test_a_replay_that_tells_a_window_from_itself_is_not_believed() -> None:
    told = said(findings(iw=16, is_sound=False))
    assert told.kind == "not allowed"
    assert "differs from itself" in told.sentence


def test_the_first_line_says_in_plain_words_what_the_instrument_missed() -> None:
    line = said(findings(), instrument=INVALID).first_line
    assert line is not None
    assert line.startswith("The instrument is not valid for this")
    assert "would not have admitted IW 10" in line
    assert "1 of 2 published figures were missed by more than a factor of 2" in line
    assert "mean gain of search: 11.7 % published, 3 measured" in line
    assert "sent again" not in line


def test_recorded_pages_leave_less_confidence_than_a_crawl() -> None:
    assert said(findings(iw=16), is_recorded=True).confidence.level == "moderate"


def test_without_a_replay_the_report_is_undecided_and_names_the_command() -> None:
    told = said(None)
    assert told.kind == "undecided"
    assert told.deciding is not None
    assert told.deciding.command == "firstflight replay run"
    assert [one.id for one in told.numbers] == ["fits"]


def test_three_numbers_are_what_fits_the_rivals_gain_and_its_worst_harm_beside_its_bound() -> None:
    _, gain, harm = said(findings()).numbers
    assert (gain.value, gain.lower, gain.upper, gain.limit) == (4.0, 3.5, 4.5, 1.0)
    assert (harm.value, harm.limit, harm.unit) == (0.1, 0.5, "pp")


def test_the_nearest_rival_is_one_whose_gain_may_be_worthwhile() -> None:
    assert rival(findings()) == 16
    assert rival(findings(iw=30)) == 30
    useless = findings(gains={16: (0.1, "fails"), 30: (5.0, "holds")})
    assert rival(useless) == 30


def test_of_rivals_that_are_ruled_out_the_nearest_exceeds_its_bounds_least_by_the_ends_of_intervals() -> None:
    gains: dict[int, tuple[float, Mark]] = {16: (1.5, "holds"), 30: (4.0, "open")}
    exceeding = findings(gains=gains, harms={16: (1.0, "fails"), 30: (1.2, "fails")})
    assert rival(exceeding) == 16
    gain, harms = exceeding.rows
    lost_early = VerdictCell(window=30, mark="fails", value=Interval(0.9, 0.6, 4.0))
    of_few_loads = dataclasses.replace(harms, cells=(harms.cells[0], lost_early))
    assert rival(dataclasses.replace(exceeding, rows=(gain, of_few_loads))) == 16
    known_well = dataclasses.replace(lost_early, value=Interval(0.9, 0.6, 1.2))
    of_many_loads = dataclasses.replace(harms, cells=(harms.cells[0], known_well))
    assert rival(dataclasses.replace(exceeding, rows=(gain, of_many_loads))) == 30


def test_a_candidate_that_is_not_ruled_out_is_nearer_than_one_that_is() -> None:
    harms: dict[int, tuple[float, Mark]] = {16: (0.6, "fails"), 30: (0.4, "open")}
    assert rival(findings(is_decided=False, harms=harms)) == 30


def test_a_rival_of_which_no_harm_was_measured_is_told_by_the_lower_end_of_its_gain() -> None:
    gain, harms = findings().rows
    unmeasured = tuple(dataclasses.replace(one, mark="not measured", value=None) for one in harms.cells)
    found = dataclasses.replace(findings(), rows=(gain, dataclasses.replace(harms, cells=unmeasured)))
    assert rival(found) == 30


def test_the_note_of_the_gain_says_what_makes_a_rival_the_nearest() -> None:
    by_id = {one.id: one for one in said(findings()).numbers}
    assert "its harm exceeds the bounds least" in by_id["gain"].note
    recommended = {one.id: one for one in said(findings(iw=16)).numbers}
    assert "nearest" not in recommended["gain"].note


@pytest.mark.parametrize(("known", "unknown", "value"), [(2, 42_718, None), (0, 5, None), (3, 1, 200 / 3)])
def test_a_share_of_which_most_is_unknown_is_unknown_with_its_count(
    known: int, unknown: int, value: float | None
) -> None:
    sizes = np.array([1_000 * (1 + place) for place in range(known)], dtype=np.int64)
    counted = np.arange(1, known + 1)
    cdf = Cdf(sizes=sizes, cumulative=counted, unknown=unknown)
    found = fits_number(cdf, iw=2, mss=1_000)
    assert found.value == (None if value is None else pytest.approx(value))
    assert f"{known:,} of" in found.note
