"""Namespaces to crawl in, of root and of ordinary users."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

ORDINARY_UID = 61_502
NOBODY_UID = 65_534
"""User of PostgreSQL, which needs a user with a name."""

NAMESPACES = ["--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
OWN_ROOT = ["--user", "--map-root-user"]
BECOME_ORDINARY = [
    "setpriv",
    f"--reuid={ORDINARY_UID}",
    f"--regid={ORDINARY_UID}",
    "--clear-groups",
    "--inh-caps=-all",
]
AS_ORDINARY = BECOME_ORDINARY if os.geteuid() == 0 else []
OWN_USER = ["--user", f"--map-user={NOBODY_UID}", f"--map-group={NOBODY_UID}", "--keep-caps"]
WITH_NET_ADMIN_ALONE = [
    "setpriv",
    "--inh-caps=-all,+net_admin",
    "--ambient-caps=-all,+net_admin",
    "--bounding-set=-all,+net_admin",
]
"""Capabilities as in docker/with-guard."""

ENTERED_BY = {
    "root": ["unshare", *([] if os.geteuid() == 0 else OWN_ROOT), *NAMESPACES],
    "own root": [*AS_ORDINARY, "unshare", *OWN_ROOT, *NAMESPACES],
    "net admin": [*AS_ORDINARY, "unshare", *OWN_USER, *NAMESPACES, *WITH_NET_ADMIN_ALONE],
}
"""Commands that enter new namespaces: as root, as an ordinary user who is root in his own,
and as one with a single capability in his own."""


def play(
    module: str,
    *arguments: str,
    user: str = "root",
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    within_s: float = 900,
) -> dict[str, Any]:
    """Run a module in namespaces of its own, and return its JSON output.

    `folder`, if any, becomes its home and holds its temporary files. Fails the test if the module fails.
    """
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})}
    if folder is not None:
        folder.mkdir()
        folder.chmod(0o1777)  # whose entries nobody else may rename
        variables |= {"TMPDIR": str(folder), "HOME": str(folder)}
    done = subprocess.run(
        [*ENTERED_BY[user], sys.executable, "-m", module, *arguments],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=within_s,
    )
    if done.returncode:
        print(done.stderr)  # shown with the first test that needed it, not with each
        last_line = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
        if last_line.startswith("unshare: "):
            last_line += ": are user and network namespaces allowed here?"
        pytest.fail(f"{module} failed: {last_line}", pytrace=False)
    result: dict[str, Any] = json.loads(done.stdout)
    return result
