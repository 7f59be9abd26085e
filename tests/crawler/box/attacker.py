#!/usr/bin/python3
"""Plays a compromised Chromium: tries what a process in its place could do, and prints what it gained.

It knows where everything is, from `targets.json` beside it, and uses nothing but the system's Python.
"""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

SWITCH = Path("/proc/sys/net/ipv4/ip_default_ttl")
PROCESS = re.compile(r"[0-9]+")


def processes() -> list[Path]:
    return [path for path in Path("/proc").iterdir() if PROCESS.fullmatch(path.name)]


def content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def replaced(temporary: str) -> list[str]:
    """Files of the crawler in place of which there is now one of ours;
    nothing outside its temporary folder is tried."""
    collected = []
    home = os.environ["HOME"]  # which may lie below a folder that we cannot list
    for folder in (temporary, *([home] if home.startswith(temporary) else [])):
        for place, _, names in os.walk(folder):
            for path in (Path(place, name) for name in names):
                with contextlib.suppress(OSError):
                    if path.is_file():
                        ours = path.with_name("ours")
                        ours.touch()
                        ours.rename(path)
                        collected.append(path.name)
    return sorted(collected)


def rows(folder: str) -> str:
    """Return PostgreSQL's answer to a superuser without a password."""
    asked = b"\0\3\0\0user\0postgres\0database\0postgres\0\0"
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.settimeout(10)
            client.connect(f"{folder}/.s.PGSQL.5432")
            client.sendall((len(asked) + 4).to_bytes(4, "big") + asked)
            return "let in" if client.recv(9) == b"R\0\0\0\x08\0\0\0\0" else "refused"
        except OSError as exc:
            return type(exc).__name__


def is_written(path: Path) -> bool:
    try:
        path.write_text(path.read_text(encoding="ascii"), encoding="ascii")
    except OSError:
        return False
    return True


def kill(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def undone() -> list[str]:
    """Mounts that root of a user namespace of ours can undo."""
    ways = ("mount -o remount,bind,rw /usr", "mount -o remount,bind,rw /proc/sys", "umount /proc/sys")
    unshare = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    return [
        way
        for way in ways
        if not subprocess.run([*unshare, way], check=False, capture_output=True).returncode
    ]


def main() -> None:
    signal.alarm(60)
    targets = json.loads(Path(__file__).with_name("targets.json").read_text(encoding="utf-8"))
    secret, marker = targets["secret"].encode(), targets["marker"].encode()
    folders = [targets["data"], targets["temporary"]]
    got = {
        "environment": [name for name in os.environ if secret in os.environ[name].encode()],
        "environments": sum(secret in content(process / "environ") for process in processes()),
        "command_lines": sum(marker in content(process / "cmdline") for process in processes()),
        "folders": [folder for folder in folders if Path(folder).exists()],
        "database": rows(targets["database"]),
        "replaced": replaced(targets["temporary"]),
        "switched": is_written(SWITCH),
        "writable": [path for path in ("/", "/etc", "/usr", "/dev") if os.access(path, os.W_OK)],
        "sockets": [path for path in ("/run", "/var/run") if Path(path).exists()],
        "undone": undone(),
    }
    print("GOT", json.dumps(got), file=sys.stderr, flush=True)
    kill(targets["processes"])  # last of all: in a box these numbers may be its own processes'


if __name__ == "__main__":
    if "--version" in sys.argv:
        print("Chromium 156.0.0.0")
    else:
        main()
