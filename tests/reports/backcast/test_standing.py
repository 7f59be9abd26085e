"""The judgement of a back-cast, and what its stored result says."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from replay.backcast.calibration import Calibrated
from replay.backcast.measure import Inputs
from reports.backcast import stored
from reports.backcast.admission import Admission
from reports.backcast.document import document
from reports.backcast.judgement import Figure
from reports.sections.method import backcast_section


def figure(ours: float, *, published: float = 1.0, decides: bool = True) -> Figure:
    return Figure(what="gain", unit="%", half="judgement", decides=decides, published=published, ours=ours)


def content(*figures: Figure, is_admitted: bool = True) -> dict[str, Any]:
    inputs = Inputs({"AvgDC": 1.0}, {"AvgDC": 0.01}, 2.0, 65_536)
    calibrated = Calibrated(inputs, {}, {"AvgDC": 200.0}, ())
    admitted = Admission(is_admitted=is_admitted, sentence="IW 10 saves.", bounds=())
    return stored.content_of(calibrated, figures, admitted, seeds=1, commit="0" * 40)


@pytest.mark.parametrize(("ours", "is_met"), [(0.5, True), (0.49, False), (2, True), (2.01, False)])
def test_a_figure_is_met_within_a_factor_of_two_either_way(ours: float, is_met: bool) -> None:
    assert figure(ours).is_met is is_met


def test_a_figure_of_the_other_sign_or_of_zero_is_missed() -> None:
    assert not figure(-1).is_met
    assert figure(-1).factor is None
    assert not figure(0).is_met
    assert figure(-1, published=-1).is_met


def test_the_instrument_is_valid_if_the_rule_admits_and_every_deciding_figure_is_met() -> None:
    assert content(figure(1), figure(9, decides=False))["is_valid"]
    assert not content(figure(1), figure(9))["is_valid"]
    assert not content(figure(1), is_admitted=False)["is_valid"]


def test_a_stored_back_cast_says_its_outcome(tmp_path: Path) -> None:
    for figures, is_valid, beginning in (
        ([figure(1)], True, "Validated"),
        ([figure(9)], False, stored.NOT_VALID),
    ):
        stored.write_backcast(tmp_path / "backcast", content(*figures), [])
        standing = stored.standing(tmp_path / "backcast")
        assert standing.is_valid is is_valid
        assert standing.sentence.startswith(beginning)


def test_without_a_back_cast_of_this_code_nothing_is_validated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "there is no back-cast" in stored.standing(tmp_path).sentence
    folder = tmp_path / "backcast"
    stored.write_backcast(folder, content(figure(1)), [])
    monkeypatch.setattr(stored, "RULE_VERSION", -1)
    assert not stored.standing(folder).is_valid
    assert "another version of the rule" in stored.standing(folder).sentence


def test_a_back_cast_that_was_changed_by_hand_is_not_believed(tmp_path: Path) -> None:
    folder = tmp_path / "backcast"
    stored.write_backcast(folder, content(figure(9)), [])
    changed = json.loads((folder / stored.FILE).read_text(encoding="utf-8"))
    (folder / stored.FILE).write_text(json.dumps({**changed, "is_valid": True}), encoding="utf-8")
    assert not stored.standing(folder).is_valid
    assert "damaged" in stored.standing(folder).sentence


def test_the_document_gives_every_figure_with_its_factor() -> None:
    page = document(content(figure(0.25)))
    assert "| gain | judgement | 1 % | 0.25 % | 0.25 | missed, decides |" in page
    assert stored.NOT_VALID in page


def bound(title: str, verdict: str) -> dict[str, Any]:
    worsening = {"estimate": 1.289, "lower": 0.982, "upper": 1.586}
    return {"title": title, "unit": "pp", "limit": 0.2, "worsening": worsening, "verdict": verdict}


def test_what_is_missed_is_named_of_figures_and_of_required_bounds() -> None:
    bounds = (
        bound("responses with any retransmission, average population", "failed"),
        bound("95th percentile of page time", "passed"),
        bound("99th percentile of page time", "failed"),
        {**bound("mean page time, slow population", "not measured"), "worsening": None},
    )
    refused = content(figure(1), figure(9, decides=False))
    refused["admission"] = {**refused["admission"], "is_admitted": False, "bounds": bounds}
    assert stored.missed_sentence(refused) == (
        "Figures that decide and are missed: none of 1; bounds of the rule that IW 10 is not shown to keep: "
        "responses with any retransmission, average population, 1.29\u202fpp (0.98\u20131.59) against a "
        "limit of 0.2\u202fpp; mean page time, slow population, not measured against a limit of 0.2\u202fpp."
    )
    assert stored.missed_sentence(content(figure(1), figure(9))) == (
        "Figures that decide and are missed: 1 of 2 (gain); no required bound of the rule is missed."
    )


def test_the_section_on_the_back_cast_says_what_is_missed() -> None:
    found = content(figure(1), figure(9))
    section = backcast_section(stored.Standing(is_valid=False, sentence="Not valid.", content=found))
    assert section.notes == (stored.missed_sentence(found),)


def test_a_back_cast_is_named_by_checksum_commit_kernel_player_and_rule(tmp_path: Path) -> None:
    assert stored.standing(tmp_path).origin() is None
    stored.write_backcast(tmp_path, content(figure(1)), [])
    named = stored.standing(tmp_path).origin()
    assert named is not None
    assert named["checksum"] == hashlib.sha256((tmp_path / "SHA256SUMS").read_bytes()).hexdigest()
    assert named["commit"] == "0" * 40
    assert {name: named[name] for name in stored.INSTRUMENT} == stored.instrument()
