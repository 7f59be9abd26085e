"""The lab on a host: what it refuses, what it makes without netem,
and its transfers on a kernel that has it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from releases.slow_start import MSS_TIMESTAMPS
from replay.errors import LabMissing
from replay.lab import guest_process, host
from replay.lab.guest_process import Lab, host_command, run_guest
from replay.lab.player import GUEST
from replay.networks.populations import profile
from replay.runs.policy import Policy
from replay.runs.races import download, race

pytestmark = pytest.mark.lab


def without(*features: str) -> Callable[[list[str]], int]:
    """A machine that fails at what mentions one of these."""
    return lambda argv: int(any(feature in " ".join(argv) for feature in features))


@pytest.mark.parametrize(
    ("lacking", "user", "needs"),
    [
        (("netem",), 0, "in its kernel sch_netem"),
        (("tbf", "netem"), 0, "in its kernel sch_tbf, sch_netem"),
        (("true",), 0, "in its kernel namespaces"),
        (("mininet",), 0, "packages (apt-get install mininet)"),
        (("mininet",), 1000, "root; packages (apt-get install mininet)"),
    ],
)
def test_what_a_host_lacks_is_said_in_one_line(
    tmp_path: Path, lacking: tuple[str, ...], user: int, needs: str
) -> None:
    with pytest.raises(LabMissing) as caught:
        host.locate(tmp_path, run=without(*lacking), user=user)
    assert str(caught.value) == f"--lab host needs what this machine has not: {needs}"


def test_a_host_that_has_everything_is_a_lab_in_real_time(tmp_path: Path) -> None:
    assert host.locate(tmp_path, run=without(), user=0) == Lab(kernel=None, player=tmp_path, is_virtual=False)


def test_hosts_links_and_bridges_are_made_on_this_machine_without_netem(lab: Lab) -> None:
    answers: list[dict[str, Any]] = []
    work = {"origins": 3, "windows": [3, 10], "jobs": []}
    run_guest(host_lab(lab), work, [], answers.append)
    (ready,) = (answer for answer in answers if "ready" in answer)
    assert (ready["hosts"], ready["offloads_on"]) == (5, 0)
    assert answers[-1] == {"finished": True}


def host_lab(lab: Lab) -> Lab:
    return Lab(kernel=None, player=lab.player, is_virtual=False)


def test_on_a_kernel_with_netem_its_transfers_are_those_of_the_guest(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guest's kernel is a host with root and netem: there, in virtual time,
    the host's lab runs inside it."""
    mid = profile("avgdc-2010-mid")
    downloads = [
        download(mid, policy=Policy(iw), request_bytes=100, response_bytes=20 * MSS_TIMESTAMPS)
        for iw in (3, 10)
    ]
    guest = race(lab, downloads, shaper="tbf", congestion_control="cubic")
    inside = tmp_path / "driver.py"
    command = host_command(GUEST, tmp_path)[:-1]
    inside.write_text(
        f"import os, sys\nos.execvp({command[0]!r}, [*{command!r}, sys.argv[1]])\n", encoding="utf-8"
    )
    monkeypatch.setattr(guest_process, "GUEST", tmp_path)
    on_host = race(lab, downloads, shaper="tbf", congestion_control="cubic")
    assert [outcome.flows[0].seconds for outcome in on_host] == pytest.approx(
        [outcome.flows[0].seconds for outcome in guest], rel=1e-4
    )
    assert guest[0].flows[0].seconds > guest[1].flows[0].seconds
