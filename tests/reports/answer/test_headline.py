"""The headline: one of four, and nothing is claimed by an instrument that is not valid."""

import dataclasses
from typing import Any

import pytest

from releases.interval import Interval
from reports.answer.headline import answer
from reports.answer.key_numbers import fits_number, rival, worst_harm
from reports.answer.shape import Answer, Findings, KeyNumber, Mark, VerdictCell
from reports.backcast.stored import Standing
from tests.factories.findings import DECIDING, cell, findings

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
    limits: str | None = None,
) -> Answer:
    return answer(
        found,
        instrument=instrument,
        illustrative_because=illustrative,
        limits=limits,
        fits=FITS,
        replay_command="firstflight replay run",
    )


def test_a_window_that_the_rule_chooses_is_recommended_with_its_gain_and_its_interval() -> None:
    found = said(findings(iw=16))
    assert (found.kind, found.headline, found.iw) == ("recommended", "IW 16 is recommended", 16)
    assert "4.00\u202f% (3.50\u20134.50)" in found.sentence
    assert (found.first_line, found.limits, found.deciding) == (None, None, None)
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
        (INVALID, (), "the method failed its test on 2010"),
        (
            Standing(is_valid=False, sentence="There is no back-cast."),
            (),
            "the method has not passed its test",
        ),
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
    by_rule = said(found)
    assert f"By itself the rule would say \u201c{by_rule.headline}\u201d. {by_rule.sentence}" in told.sentence
    assert "4.00\u202f% (3.50\u20134.50)" in told.sentence


def test_a_replay_that_tells_a_window_from_itself_is_not_believed() -> None:
    told = said(findings(iw=16, is_sound=False))
    assert told.kind == "not allowed"
    assert "differs from itself" in told.sentence


def test_the_first_line_is_one_plain_sentence_on_the_instrument() -> None:
    assert said(findings(), instrument=INVALID).first_line == (
        "The instrument is not valid for this: the same method, asked about 2010, would have rejected IW 10, "
        "today\u2019s initial window."
    )
    admitting = dataclasses.replace(INVALID, content={**MISSED, "admission": {"is_admitted": True}})
    assert said(findings(), instrument=admitting).first_line == (
        "The instrument is not valid for this: the same method, asked about 2010, "
        "misses 1 of 2 effects that were measured then."
    )
    met = [{**one, "is_met": True} for one in MISSED["figures"]]
    rejecting = dataclasses.replace(INVALID, content={**MISSED, "figures": met})
    assert said(findings(), instrument=rejecting).first_line == (
        "The instrument is not valid for this: asked about 2010, the replay shows the effects that were "
        "measured then, but the rule would have rejected IW 10, today\u2019s initial window."
    )
    line = said(findings(), instrument=Standing(is_valid=False, sentence="There is no back-cast.")).first_line
    assert line is not None
    assert line.startswith("The instrument is not shown to be valid")


def test_every_reason_to_say_nothing_stands_before_the_answer() -> None:
    line = said(findings(is_sound=False), instrument=INVALID, illustrative=("the web is local",)).first_line
    assert line is not None
    for part in ("not valid for this", "illustrative", "the web is local", "failed its own check"):
        assert part in line


def test_recorded_pages_leave_less_confidence_than_a_crawl_and_their_limits_stand_before_the_answer() -> None:
    told = said(findings(iw=16), limits="Recorded pages.")
    assert (told.confidence.level, told.limits) == ("moderate", "Recorded pages.")
    assert said(None, limits="Recorded pages.").limits == "Recorded pages."


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
    assert "it harms least for its bounds" in by_id["gain"].note
    recommended = {one.id: one for one in said(findings(iw=16)).numbers}
    assert "harms least" not in recommended["gain"].note


def test_the_worst_harm_is_the_largest_multiple_of_its_own_bound_of_those_that_are_not_met() -> None:
    gain, again = findings().rows
    small = dataclasses.replace(
        again, id="small", title="small bound", limit=0.1, cells=(cell(16, 0.3, "fails"),)
    )
    large = dataclasses.replace(
        again, id="large", title="large bound", limit=2.0, cells=(cell(16, 4.0, "fails"),)
    )
    open_one = dataclasses.replace(again, id="open", limit=0.1, cells=(cell(16, 9.0, "open"),))
    rows = (gain, large, small, open_one)
    worst = worst_harm(rows, 16)
    assert worst is not None
    assert worst[0] == small
    by_itself = worst_harm((gain, open_one), 16)
    assert by_itself is not None
    assert by_itself[:2] == (open_one, open_one.cells[0])
    assert worst_harm((gain,), 16) is None
    harm = said(dataclasses.replace(findings(), windows=(16,), rows=rows)).numbers[2]
    assert (harm.value, harm.limit) == (0.3, 0.1)


def measures(**known: tuple[int, int, int]) -> list[dict[str, Any]]:
    """Measures of report.json: how many fit into IW 2, are of known size, and are unknown."""
    return [
        {
            "id": name,
            "known": of,
            "unknown": unknown,
            "is_stated": of > unknown,
            "shares": [{"iw": 2, "percent": 100 * fit / of, "lower_percent": 1.0, "upper_percent": 99.0}]
            if of > unknown
            else [{"iw": 2, "percent": None, "lower_percent": None, "upper_percent": None}],
        }
        for name, (fit, of, unknown) in known.items()
    ]


def test_the_first_number_is_the_share_of_first_flights_with_its_interval() -> None:
    found = fits_number(measures(first_flights=(2, 3, 1), responses=(1, 4, 0)), iw=2)
    assert found.value == pytest.approx(200 / 3)
    assert (found.lower, found.upper) == (1.0, 99.0)
    assert found.label == "of first flights fit into IW 2"
    assert found.note == "of 3 of known size; 1 more are unknown"


def test_responses_labelled_so_stand_for_first_flights_of_unknown_size() -> None:
    found = fits_number(measures(first_flights=(0, 0, 9_665), responses=(3, 4, 0)), iw=2)
    assert (found.value, found.label) == (75.0, "of responses fit into IW 2")
    assert found.note.endswith(
        "in place of first flights: the size is known of 0 of 9\u202f665 first flights"
    )


def test_a_share_of_which_most_is_unknown_is_unknown_with_its_count() -> None:
    found = fits_number(measures(first_flights=(0, 2, 42_718), responses=(0, 0, 5)), iw=2)
    assert (found.value, found.lower, found.label) == (None, None, "of first flights fit into IW 2")
    assert "known of 2 of 42\u202f720" in found.note
