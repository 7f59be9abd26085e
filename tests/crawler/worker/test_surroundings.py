"""A mistake in the blocked networks ends a run before anything is changed on the machine."""

import sys
from pathlib import Path
from typing import Any

import pytest

from crawler.errors import EgressUnavailable
from crawler.worker import surroundings
from schema.tables import Crawl


def never(*_: Any) -> None:
    raise AssertionError("a guard was set up")


@pytest.mark.parametrize("unfiltered", [False, True])
def test_a_mistake_in_the_blocked_networks_ends_a_run_before_a_guard_is_set_up(
    unfiltered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surroundings, "set_up_guard", never)
    egress = surroundings.set_up_egress(
        Crawl(kind="web"), Path(sys.executable), unfiltered=unfiltered, blocked_networks="9.9.9.9/8"
    )
    with (
        pytest.raises(
            EgressUnavailable, match=r"^FIRSTFLIGHT_BLOCKED_NETWORKS: 9\.9\.9\.9/8 has host bits set: [^\n]*$"
        ),
        egress,
    ):
        pass
