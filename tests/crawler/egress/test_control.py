"""The crawl's end of the channel to the guard process."""

import socket
import threading

import pytest

from crawler.egress import control
from crawler.egress.control import CHECK, Control
from crawler.errors import EgressUnavailable, GuardEnded


def test_a_guard_process_that_ended_is_told_from_a_broken_guard() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        answering = threading.Thread(target=lambda: theirs.recv(100) and theirs.send(b'{"error": "no link"}'))
        answering.start()
        with pytest.raises(EgressUnavailable, match="no link") as broken:
            Control(ours).ask(CHECK)
        answering.join()
        assert not isinstance(broken.value, GuardEnded)
        theirs.close()
        with pytest.raises(GuardEnded):
            Control(ours).ask(CHECK)


def test_a_guard_process_that_missed_one_answer_counts_as_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "CHECKED_WITHIN_S", 0.01)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        asking = Control(ours)
        for _ in range(2):
            with pytest.raises(GuardEnded):
                asking.ask(CHECK)
