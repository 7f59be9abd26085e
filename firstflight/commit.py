"""The commit of the running code."""

import importlib.metadata
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def code_commit(stated: str | None) -> str:
    """Return the source tree's commit, with -dirty if it has changes; outside of one `stated` or the
    version."""
    if (ROOT / ".git").exists():
        # The tree may be a user's own while we are root: git would not speak of it otherwise.
        mine = ["-c", f"safe.directory={ROOT}"]
        call = [
            "git",
            "-C",
            str(ROOT),
            *mine,
            "describe",
            "--always",
            "--dirty",
            "--abbrev=40",
            "--exclude=*",
        ]
        try:
            return subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()
        except (FileNotFoundError, subprocess.CalledProcessError):  # no git, or not our user's tree
            pass
    return stated or "v" + importlib.metadata.version("firstflight")
