"""The back-cast as calibration: the rule chooses 10 in the world of 2010, and not in any world."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from replay.backcast.calibration import Calibrated
from replay.backcast.measure import Inputs
from replay.backcast.networks import strata
from replay.backcast.published import CANDIDATES, DATA_CENTERS, DataCenter, Service
from replay.backcast.services import Shape
from replay.errors import ReplayError
from replay.lab.kernel import build_key
from replay.lab.player import player_key
from replay.runs.conditions import Conditions
from schema.computed_tables import CELL
from tests.verdict.made_up import FAR, noisy
from verdict.calibration import (
    BACKCAST_RULE,
    FORMAT_VERSION,
    INSTRUMENT,
    OVERFLOW,
    SHIPPED,
    BackCastFinding,
    choose_windows,
    content_of,
    figures_in,
    figures_of,
    judge_stored,
    read_finding,
    sentence,
    write_backcast,
)
from verdict.judgement import Look
from verdict.replayed import PolicyReplayed
from verdict.rule import RULE, VERSION
from verdict.verdict import PageList, Verdict

SEARCH_MS = {3: 562.0, 6: 497.0, 10: 469.0, 16: 467.0, 26: 466.0}
"""Latency of search with the knee at 10 that this instrument shows."""

FITTING_MS = dict.fromkeys(CANDIDATES, 562.0)

CALIBRATED = Calibrated(
    inputs=Inputs(dict.fromkeys(DATA_CENTERS, 1.0), dict.fromkeys(DATA_CENTERS, 0.02), 2.0, 131_072),
    shapes=dict.fromkeys(("search", "maps", "photos"), Shape(1, 1)),
    backend_ms=dict.fromkeys(DATA_CENTERS, 20.0),
    tried=(),
)

FIRST: dict[Service, int] = {"search": 1, "maps": 101, "photos": 201}


def rows(
    center: DataCenter, service: Service, times: dict[int, float], resent: float
) -> list[dict[str, Any]]:
    """Loads of six pages, of which a step sends `resent` percentage points more again."""
    rng = np.random.default_rng(1)
    rows = []
    for at in range(len(strata(center).weights)):
        for page in range(6):
            factor = float(np.exp(0.02 * rng.standard_normal()))
            for place, iw in enumerate(CANDIDATES):
                sent = 1000
                again = sent * (0.02 + place * resent / 100 * float(np.exp(0.1 * rng.standard_normal())))
                rows.append(
                    dict.fromkeys(CELL.names)
                    | Conditions().columns()
                    | {"page": f"{service}-{page}", "visit_id": FIRST[service] + page, "seed": 1}
                    | {"iw": iw, "policy": str(iw)}
                    | {"profile": f"{center.lower()}-{at + 1}", "state": "done"}
                    | {"page_ms": times[iw] * (factor if iw > 3 else 1), "handshake_max_ms": 100.0}
                    | {"payload_bytes": 1448 * sent}
                    | {"bytes_retransmitted": round(1448 * again), "segments_sent": sent}
                    | {
                        "segments_retransmitted": round(again),
                        "segments_dropped": round(again),
                        "responses": 1,
                        "responses_own_retransmitted": 0,
                    }
                    | {"connections": 1, "connections_initial_loss": 0, "bottleneck_drops": 0}
                )
    return rows


def experiment(
    times: dict[int, float], resent: float = 0.15
) -> dict[tuple[DataCenter, Service], list[dict[str, Any]]]:
    return {
        (center, service): rows(center, service, times, resent)
        for center in DATA_CENTERS
        for service in FIRST
    }


def decide_by(back_cast: BackCastFinding, *, month: str | None = None) -> Verdict:
    """The verdict on a policy that plainly saves too little."""
    evidence = noisy(np.random.default_rng(1), 2000, {FAR: (0.2, 0.0)})
    rule = dataclasses.replace(RULE, candidates=(FAR,), shown=(), guards=())
    pages = PageList(looks=(Look(evidence=evidence),), rule=rule, month=month)
    return PolicyReplayed(pages=pages, release=None).verdict(back_cast)


def test_the_rule_chooses_ten_over_the_networks_of_2010() -> None:
    choices = choose_windows(experiment(SEARCH_MS), CALIBRATED)
    assert [(choice["kind"], choice["window"]) for choice in choices.values()] == [("raise", "10")] * 2
    six, ten, *_ = choices["AvgDC"]["candidates"]
    assert (six["window"], ten["window"]) == ("6", "10")
    assert ten["per load"]["gain_percent"] == pytest.approx(100 * (1 - 489 / 582), abs=0.1)
    assert ten["in sum"]["resent_pp"] == pytest.approx(0.3, abs=0.05)


def test_the_rule_keeps_three_where_every_page_fits_into_three_segments() -> None:
    choices = choose_windows(experiment(FITTING_MS, 0.0), CALIBRATED)
    assert {choice["window"] for choice in choices.values()} == {"3"}


def test_no_constant_of_the_rule_is_changed_for_2010() -> None:
    changed = ("incumbent", "candidates", "shown", "guards")
    same = dataclasses.replace(BACKCAST_RULE, **{name: getattr(RULE, name) for name in changed})
    assert same == RULE
    assert [policy.window for policy in BACKCAST_RULE.candidates] == [6, 10, 16, 26]


def test_a_data_centre_whose_loads_leave_ten_open_lowers_the_confidence_by_little(
    content: Any,
) -> None:
    met = [figure | {"ours": figure["published"]} for figure in content["figures"]]
    opened = {center: dict(choice) for center, choice in content["choices"].items()}
    opened["SlowDC"] |= {"kind": "open", "window": "3"}
    opened["SlowDC"]["candidates"] = [
        candidate | {"verdict": "open"} for candidate in opened["SlowDC"]["candidates"]
    ]
    (reason,) = BackCastFinding(content=content | {"figures": met, "choices": opened}, sentence="").reasons
    assert reason.level == "medium"
    assert "slow data centre of 2010 the rule leaves IW 10 open, with a net benefit of" in reason.sentence
    opened["SlowDC"]["candidates"][1] |= {"verdict": "not worth it"}
    (reason,) = BackCastFinding(content=content | {"figures": met, "choices": opened}, sentence="").reasons
    assert reason.level == "low"
    assert reason.sentence.endswith("the rule keeps IW 3.")


@pytest.fixture(scope="module")
def content() -> Any:
    rows = experiment(SEARCH_MS)
    backcast = content_of(
        CALIBRATED, tuple(figures_of(rows, CALIBRATED)), choose_windows(rows, CALIBRATED), seeds=1, commit="c"
    )
    return json.loads(json.dumps(backcast))


def test_a_figure_is_held_against_the_published_one(content: Any) -> None:
    figures = {figure["what"]: figure for figure in content["figures"]}
    gain = figures["AvgDC: mean gain of search"]
    assert gain["published"] == pytest.approx(11.7, abs=0.05)
    assert gain["is_met"]
    assert not figures["AvgDC, photos: more responses with any at IW 10"]["is_met"]


def test_an_old_table_of_lines_lowers_the_confidence_of_networks_drawn_from_it(
    content: Any,
) -> None:
    met = [figure | {"ours": figure["published"]} for figure in content["figures"]]
    known = BackCastFinding(content=content | {"figures": met}, sentence="")
    outcomes = {
        month: (verdict.confidence, [reason.sentence for reason in verdict.reasons])
        for month in ("2027-10", "2027-11", None)
        for verdict in [decide_by(known, month=month)]
    }
    assert outcomes["2027-11"][0] == "low"
    assert outcomes["2027-11"][1][0] == (
        "The rates, round trips and losses of access lines by country are of 2025-10, more than 24 months "
        "older than the pages."
    )
    assert outcomes["2027-10"] == outcomes[None] == ("high", [])


def test_a_gain_that_is_missed_lowers_no_confidence(content: Any) -> None:
    figures = [
        figure | {"ours": (3 if figure["quantity"] == "page" else 1) * figure["published"]}
        for figure in content["figures"]
    ]
    assert BackCastFinding(content=content | {"figures": figures}, sentence="").reasons == ()


def test_what_queues_drop_and_not_all_that_is_sent_again_is_held_against_2010() -> None:
    """Where all that is sent again more is spurious, the price of a window is not tested."""
    loads = {
        key: [row | {"segments_dropped": 0} for row in rows] for key, rows in experiment(SEARCH_MS).items()
    }
    figures = {figure.what: figure for figure in figures_of(loads, CALIBRATED)}
    assert figures["AvgDC, all: more segments sent again at IW 10"].is_met
    assert not figures[f"AvgDC, all: {OVERFLOW}"].is_met


def test_a_missed_overflow_lowers_the_confidence_and_breaks_nothing(tmp_path: Path, content: Any) -> None:
    figures = [
        figure | {"ours": (3 if figure["what"] == f"SlowDC, all: {OVERFLOW}" else 1) * figure["published"]}
        for figure in content["figures"]
    ]
    write_backcast(tmp_path / "backcast", content | {"figures": figures}, [])
    stored = read_finding(tmp_path / "backcast")
    assert stored.broken == ()
    (reason,) = stored.reasons
    assert reason.level == "low"
    assert (
        "slow data centre of 2010 sent again rose by 0.67 pp; in the replay, what queues drop rises by 2 pp"
        in reason.sentence
    )
    assert "the rule chooses IW 10 (average data centre) and chooses IW 10 (slow" in sentence(content)


def test_stored_loads_are_judged_again_as_they_were_at_first(tmp_path: Path, content: Any) -> None:
    rows = [row for rows in experiment(SEARCH_MS).values() for row in rows]
    write_backcast(tmp_path, content | {"choices": {}, "figures": [], "rule_version": 0}, rows)
    assert json.loads(json.dumps(judge_stored(tmp_path))) == content
    write_backcast(tmp_path, content | {"player": "other"}, rows)
    with pytest.raises(ReplayError, match="are of another page player"):
        judge_stored(tmp_path)


def test_a_damaged_back_cast_silences_the_answer_and_says_what_to_do(tmp_path: Path, content: Any) -> None:
    write_backcast(tmp_path, content, [])
    assert read_finding(tmp_path).content == content
    (tmp_path / "cells.parquet").write_bytes(b"")
    damaged = read_finding(tmp_path)
    assert "is damaged (cells.parquet): move it away, or run" in damaged.broken[0]
    assert decide_by(damaged).kind == "no answer"


def test_without_a_back_cast_of_its_own_a_data_folder_has_the_one_that_comes_with_the_code(
    tmp_path: Path, content: Any
) -> None:
    shipped = json.loads(SHIPPED.read_text(encoding="utf-8"))
    keys = {name: shipped[name] for name in INSTRUMENT}
    standing = read_finding(tmp_path, of=keys)
    assert standing.content == shipped
    assert standing.origin() is not None
    write_backcast(tmp_path, content | keys | {"player": "other"}, [])
    assert read_finding(tmp_path, of=keys).content == shipped
    write_backcast(tmp_path, content | keys, [])
    assert read_finding(tmp_path, of=keys).content == content | keys


def test_a_back_cast_of_another_instrument_lowers_the_confidence_and_says_what_to_run(tmp_path: Path) -> None:
    shipped = json.loads(SHIPPED.read_text(encoding="utf-8"))
    other = read_finding(tmp_path, of={name: shipped[name] for name in INSTRUMENT} | {"player": "other"})
    (reason,) = other.reasons
    assert "of another page player; run `firstflight replay backcast`" in reason.sentence
    verdict = decide_by(other)
    assert (verdict.kind, verdict.confidence) == ("stays", "low")


def test_no_command_is_named_where_no_back_cast_of_this_code_would_do(tmp_path: Path) -> None:
    shipped = json.loads(SHIPPED.read_text(encoding="utf-8"))
    of = {name: shipped[name] for name in INSTRUMENT} | {"rule_version": VERSION + 1}
    (reason,) = read_finding(tmp_path, of=of).reasons
    assert reason.sentence == "The back-cast is of another version of the rule."
    assert reason.level == "low"


def test_the_shipped_back_cast_is_of_the_kernel_player_and_rule_of_this_code() -> None:
    shipped = json.loads(SHIPPED.read_text(encoding="utf-8"))
    kernel = shipped["kernel"]
    # The kernel's package is the machine's; its options, changes and patches are the code's.
    assert (build_key(kernel["version"]), player_key(), VERSION) == (
        kernel["recipe"],
        shipped["player"],
        shipped["rule_version"],
    ), (
        "kernel, player or rule have changed: run `firstflight replay backcast --seeds 3`, and ship its "
        'result by `cp "$FIRSTFLIGHT_DATA_DIR"/backcast/backcast.json verdict/backcast.json`'
    )
    assert shipped["format_version"] == FORMAT_VERSION
    figures_in(shipped)
