"""What threads have to do is read while they do it."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from crawler.browser.processes import WorkMeter

READ_FOR_S = 1.0

BURN = "import time; end = time.monotonic() + 60\nwhile time.monotonic() < end: pass"
COMPUTES = f"{shlex.quote(sys.executable)} -c {shlex.quote(BURN)} & wait"
SLEEPS = "sleep 60 & wait"


@pytest.fixture
def meter(request: pytest.FixtureRequest) -> Iterator[tuple[WorkMeter, float]]:
    """A meter of a shell and the program below it, and for how many milliseconds it has looked."""
    with subprocess.Popen(["sh", "-c", request.param], start_new_session=True) as shell:
        try:
            time.sleep(READ_FOR_S)  # it starts
            meter, began = WorkMeter(shell.pid), time.monotonic()
            time.sleep(READ_FOR_S)
            meter.read(1)
            yield meter, (time.monotonic() - began) * 1000
        finally:
            os.killpg(shell.pid, signal.SIGKILL)


@pytest.mark.parametrize("meter", [COMPUTES], indirect=True)
def test_a_thread_that_computes_is_busy_all_the_time_whether_it_runs_or_waits(
    meter: tuple[WorkMeter, float],
) -> None:
    reading, looked_ms = meter
    assert reading.is_ready
    assert looked_ms / 2 < reading.busy_ms(0) < looked_ms * 1.1
    assert 0 <= reading.waited_ms < reading.busy_ms(0)


@pytest.mark.parametrize("meter", [SLEEPS], indirect=True)
def test_a_thread_that_sleeps_has_nothing_to_do(meter: tuple[WorkMeter, float]) -> None:
    reading, _ = meter
    assert not reading.is_ready
    assert reading.busy_ms(0) == reading.waited_ms == 0
