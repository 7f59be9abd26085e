import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import counting

pytestmark = pytest.mark.process


BURN = "import time\nwhile time.process_time() < 0.2: pass"
ORPHAN = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {BURN!r}], start_new_session=True)"


@pytest.fixture
def spec(tmp_path: Path) -> counting.Spec:
    return counting.Spec(
        commands=[], environment={}, folder=str(tmp_path), timeout_s=30, browser="/bin/no", weigh=False
    )


def counted(spec: counting.Spec, tmp_path: Path) -> counting.Report:
    """Count in a process of its own, as the benchmarks do, since it adopts and reaps orphans."""
    files = [str(tmp_path / "spec.json"), str(tmp_path / "report.json")]
    (tmp_path / "spec.json").write_text(json.dumps(dataclasses.asdict(spec)))
    subprocess.run([sys.executable, "-m", "benchmarks.counting", *files], check=False)
    return counting.Report(**json.loads((tmp_path / "report.json").read_text()))


def test_the_time_of_an_orphan_is_counted(spec: counting.Spec, tmp_path: Path) -> None:
    report = counted(dataclasses.replace(spec, commands=[[sys.executable, "-c", ORPHAN]]), tmp_path)
    assert report.exits == [0]
    assert 0.2 <= report.cpu_s < 2
    assert report.killed == 0


def test_the_time_of_a_process_that_ends_with_its_namespace_is_counted(
    spec: counting.Spec, tmp_path: Path
) -> None:
    left = f"{BURN}\nprint(flush=True)\ntime.sleep(60)"
    first = (
        f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {left!r}], "
        "stdout=-1).stdout.readline()"
    )
    box = ["unshare", "--user", "--pid", "--fork", "--kill-child", sys.executable, "-c", first]
    report = counted(dataclasses.replace(spec, commands=[box]), tmp_path)
    assert report.exits == [0]
    assert 0.2 <= report.cpu_s < 2
    assert report.killed == 0


def test_a_process_that_outlasts_its_grace_period_is_killed_and_counted(
    spec: counting.Spec, tmp_path: Path
) -> None:
    sleeper = [sys.executable, "-c", f"{BURN}\ntime.sleep(60)"]
    report = counted(dataclasses.replace(spec, commands=[sleeper], timeout_s=0.8), tmp_path)
    assert (report.exits, report.killed) == ([-9], 1)
    assert report.cpu_s > 0


def test_the_time_of_a_tree_includes_living_and_dead_processes() -> None:
    before = counting.tree_cpu_s(os.getpid())
    subprocess.run([sys.executable, "-c", BURN], check=True)
    assert 0.15 < counting.tree_cpu_s(os.getpid()) - before < 2
