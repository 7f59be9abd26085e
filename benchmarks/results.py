"""Writes the results of a benchmark, with commit, machine and time, to build/bench/NAME.json."""

import datetime
import json
import os
import platform
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from firstflight.commit import code_commit
from firstflight.settings import from_environment

RECORDING_CPU_BOUND = 1.25
"""Largest CPU time a page with recording and writing,
as a multiple of Playwright alone that waits as long."""
SPEED_BOUND = 0.85
"""Least pages per second, as a multiple of Puppeteer with HAR that waits as long."""

FOLDER = Path("build/bench")


def provenance() -> dict[str, Any]:
    """Return the commit, time, machine and its load; call it before the measurement, which adds to the
    load."""
    return {
        "commit": code_commit(from_environment().commit),
        "measured_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": {
            "cpu": _first("/proc/cpuinfo", "model name") or platform.machine(),
            "cpus": os.cpu_count(),
            "memory_gb": round(int((_first("/proc/meminfo", "MemTotal") or "0 kB").split()[0]) / 1e6, 1),
            "kernel": platform.release(),
            "load_before": os.getloadavg()[0],
        },
    }


def _first(file: str, key: str) -> str | None:
    """Return the first value of a key in a list of /proc."""
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return None


def spread(values: Sequence[float], digits: int = 3) -> dict[str, float]:
    """Return the median and range.

    >>> spread([3.0, 1.0, 2.0])
    {'median': 2.0, 'min': 1.0, 'max': 3.0}
    """
    return {
        "median": round(statistics.median(values), digits),
        "min": round(min(values), digits),
        "max": round(max(values), digits),
    }


def write(name: str, facts: dict[str, Any]) -> Path:
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    return path
