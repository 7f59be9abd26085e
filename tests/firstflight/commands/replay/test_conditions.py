import pytest

from firstflight.commands.replay.condition_words import read_competition, read_loss, read_queue
from firstflight.commands.replay.conditions import arms
from replay.runs.conditions import Competition, Conditions, Loss, Queue


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
        ("fq_codel", Queue(discipline="fq_codel")),
        ("cake", Queue(discipline="cake")),
        ("0.25BDP", Queue(bdp=0.25)),
        ("65536B", Queue(bytes=65_536)),
    ],
)
def test_a_queue_is_read_as_it_is_written(word: str, queue: Queue | None) -> None:
    assert read_queue(word) == queue
    assert queue is None or read_queue(str(queue)) == queue


@pytest.mark.parametrize(
    "word", ["tail-drop", "red", "0BDP", "17BDP", "3027B", "16000001B", "64kB", "-1BDP", "1"]
)
def test_a_queue_that_the_lab_lacks_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match=word):
        read_queue(word)


def test_every_combination_is_an_arm_and_the_first_is_that_of_the_defaults() -> None:
    found = arms(
        congestion_control=("cubic", "bbr"),
        pacing=(False, True),
        loss=(None, Loss(share=0.01)),
        competition=(None,),
        queue=(None,),
        think=(True, False),
        cache=(False, True),
        tls_records=("recorded", "16k"),
        discovery=("recorded", "last-byte"),
        tls_handshake=("recorded", "early-data"),
        requests=("chromium", "unlimited"),
        dns=(False, True),
        receiver=("unlimited", "linux"),
        http=("recorded", "h2"),
        h2_order=(False, True),
        send_buffer=("64k", "linux"),
    )
    assert len(set(found)) == 16384
    assert found[0] == Conditions()
