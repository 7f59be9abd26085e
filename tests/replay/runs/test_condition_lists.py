import dataclasses

import pytest

from replay.runs.condition_lists import (
    FLAGS,
    READERS,
    WORDS,
    Value,
    combinations,
    read_competition,
    read_loss,
    read_queue,
    read_value,
)
from replay.runs.conditions import Competition, Conditions, Loss, OtherQueue


@pytest.mark.parametrize(
    ("word", "loss"),
    [
        ("own", None),
        ("0", Loss(share=0)),
        ("0.01", Loss(share=0.01)),
        (".5", Loss(share=0.5)),
        ("0.01x4", Loss(share=0.01, burst=4)),
        ("0.001x2.5", Loss(share=0.001, burst=2.5)),
    ],
)
def test_a_loss_is_read_as_it_is_written(word: str, loss: Loss | None) -> None:
    assert read_loss(word) == loss
    assert loss is None or read_loss(str(loss)) == loss


def test_a_competition_is_read_as_it_is_written() -> None:
    two = Competition(flows=2, congestion_control="bbr", iw=10)
    assert read_competition("2xbbr@10") == two
    assert read_competition(str(two)) == two
    assert read_competition("none") is None


@pytest.mark.parametrize(
    ("word", "queue"),
    [
        ("own", None),
        ("fq_codel", OtherQueue(discipline="fq_codel")),
        ("cake", OtherQueue(discipline="cake")),
        ("0.25BDP", OtherQueue(bdp=0.25)),
        ("65536B", OtherQueue(bytes=65_536)),
    ],
)
def test_a_queue_is_read_as_it_is_written(word: str, queue: OtherQueue | None) -> None:
    assert read_queue(word) == queue
    assert queue is None or read_queue(str(queue)) == queue


@pytest.mark.parametrize(
    "word", ["tail-drop", "red", "0BDP", "17BDP", "3027B", "16000001B", "64kB", "-1BDP", "1"]
)
def test_a_queue_that_the_lab_lacks_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match=word):
        read_queue(word)


def test_every_combination_is_replayed_and_the_first_is_that_of_the_defaults() -> None:
    lists: dict[str, list[Value]] = {
        "congestion_control": ["cubic", "bbr"],
        "loss": ["own", 0.01],
        "warm_cache": [False, True],
    }
    conditions = combinations(lists, base=Conditions())
    assert len(set(conditions)) == 8
    assert conditions[0] == Conditions()
    assert conditions[-1] == Conditions(congestion_control="bbr", loss=Loss(share=0.01), warm_cache=True)


def test_every_condition_is_a_field_of_conditions_and_the_others_are_set_by_the_planning() -> None:
    named = {field.name for field in dataclasses.fields(Conditions)}
    assert {*WORDS, *FLAGS, *READERS} == named - {"alias", "neighbours"}
    for field in (*WORDS, *FLAGS):
        default = getattr(Conditions(), field)
        assert read_value(field, default) == default


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("congestion_control", "quic", "congestion_control is one of reno, cubic, bbr"),
        ("prioritised", "fast", "prioritised is true or false, not 'fast'"),
        ("loss", "1%", "loss is own, a share up to 0.5"),
        ("loss", 0.6, "loss is own, a share up to 0.5"),
        ("loss", "0.01x0.5", "loss is own, a share up to 0.5"),
        ("server_delay", "long", "server_delay is true or false"),
        ("competition", "2xbbr", "competition is none, or up to 64 flows"),
        ("competition", "0xbbr@10", "competition is none, or up to 64 flows"),
        ("competition", "1xquic@10", "competition is none, or up to 64 flows"),
        ("competition", "1xbbr@251", "competition is none, or up to 64 flows"),
        ("weather", "rain", "conditions has no weather; there are congestion_control"),
    ],
)
def test_a_value_that_is_none_is_refused_with_what_there_is(field: str, value: Value, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_value(field, value)
