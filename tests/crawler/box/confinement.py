"""Reads from /proc (proc(5)) how a browser's processes are confined."""

import os
import re
from pathlib import Path
from typing import Any

from crawler.browser import processes

NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
SECRET = "taken-from-the-crawler"
SECRETS = dict.fromkeys(("FIRSTFLIGHT_DATABASE_URL", "DATABASE_URL", "AWS_SECRET_ACCESS_KEY"), SECRET)

VARIABLE = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*(?==)")
"""A variable's name; a process that writes its title over its environment has others there, or none."""


def namespaces(pid: int) -> dict[str, str]:
    return {name: str(Path(f"/proc/{pid}/ns/{name}").readlink()) for name in NAMESPACES}


def mounts(pid: int) -> list[dict[str, Any]]:
    """List a process's mounts: path, whether writable, type and source folder."""
    collected = []
    for line in Path(f"/proc/{pid}/mountinfo").read_text(encoding="utf-8").splitlines():
        _, _, _, root, point, options, *_ = line.split(" ")
        kind = line.partition(" - ")[2].split(" ")[0]
        collected.append({"at": point, "writable": "rw" in options.split(","), "kind": kind, "of": root})
    return collected


def process(pid: int) -> dict[str, Any]:
    # The zygote's arguments have spaces between them.
    arguments = re.split(rb"[\0 ]", Path(f"/proc/{pid}/cmdline").read_bytes())
    status = dict(
        line.split(":\t", 1)
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
        if ":\t" in line
    )
    given = Path(f"/proc/{pid}/environ").read_bytes()
    kinds = [
        argument.partition(b"=")[2].decode() for argument in arguments if argument.startswith(b"--type=")
    ]
    program = arguments[0].decode().rpartition("/")[2]
    return {
        "kind": kinds[0] if kinds else {"chromium-headless-shell": "browser"}.get(program, program),
        "is_bubblewrap": program == "bwrap",
        "uids": status["Uid"].split(),
        "capabilities": {name: int(status[name], 16) for name in CAPABILITIES},
        "no_new_privs": status["NoNewPrivs"],
        "seccomp": status["Seccomp"],
        "namespaces": namespaces(pid),
        "root": str(Path(f"/proc/{pid}/root").readlink()),
        "mounts": mounts(pid),
        "variables": sorted(
            match[0].decode() for part in given.split(b"\0") if (match := VARIABLE.match(part)) is not None
        ),
    }


def list_confined(browser: int) -> list[dict[str, Any]]:
    """Describe bubblewrap and its descendants, which are the browser,
    but not the crawler's `tee` beside them."""
    result = [process(pid) for pid in [browser, *processes.list_descendants(browser)]]
    return [process for process in result if process["kind"] != "tee"]


def ourselves() -> dict[str, Any]:
    return process(os.getpid())
