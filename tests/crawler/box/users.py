"""Namespaces to crawl in: root's, and those of an ordinary user with one capability."""

import json
import os
import subprocess
import sys
from typing import Any

SECRET = "taken-from-the-crawler"
SECRETS = ("FIRSTFLIGHT_DATABASE_URL", "DATABASE_URL", "AWS_SECRET_ACCESS_KEY")

WITHIN_S = 120
ORDINARY_UID = 61_502
NOBODY_UID = 65_534
"""User of PostgreSQL, which needs a user with a name."""

USERS = ["root", "ordinary"] if os.geteuid() == 0 else ["ordinary"]

NAMESPACES = ["--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
BECOME_ORDINARY = [
    "setpriv",
    f"--reuid={ORDINARY_UID}",
    f"--regid={ORDINARY_UID}",
    "--clear-groups",
    "--inh-caps=-all",
]
OWN_USER = ["--user", f"--map-user={NOBODY_UID}", f"--map-group={NOBODY_UID}", "--keep-caps"]
WITH_NET_ADMIN_ALONE = [
    "setpriv",
    "--inh-caps=-all,+net_admin",
    "--ambient-caps=-all,+net_admin",
    "--bounding-set=-all,+net_admin",
]
"""Capabilities as in docker/with-guard."""


def play_as(user: str, module: str, *arguments: str) -> dict[str, Any]:
    """Run a module as this user, with secrets in its environment, and return its JSON output."""
    call = ["unshare", *NAMESPACES]
    if user == "ordinary":
        become = BECOME_ORDINARY if os.geteuid() == 0 else []
        call = [*become, "unshare", *OWN_USER, *NAMESPACES, *WITH_NET_ADMIN_ALONE]
    done = subprocess.run(
        [*call, sys.executable, "-m", module, *arguments],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **dict.fromkeys(SECRETS, SECRET)},
        capture_output=True,
        text=True,
        check=False,
        timeout=WITHIN_S,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result
