"""The player: the C program inside the guest, compiled once and cached by its source."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

from replay.errors import LabMissing
from replay.lab.kernel import publish, run, scratch_folder

GUEST = Path(__file__).with_name("guest")
WARNINGS = ["-Wall", "-Wextra", "-Wmissing-prototypes", "-Wredundant-decls", "-Wnested-externs", "-Werror"]
"""Compiler warnings, all errors: a C file can use another only through a header."""
COMPILE = ["gcc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-static", *WARNINGS]
LIBRARIES = ["-lm"]


def sources() -> list[Path]:
    """Return sources and headers, sorted; `kernel/` holds files of Linux."""
    return sorted(path for path in GUEST.rglob("*.[ch]") if path.parent != GUEST / "kernel")


def player_key() -> str:
    digest = hashlib.sha256(" ".join([*COMPILE, *LIBRARIES]).encode())
    for source in sources():
        digest.update(str(source.relative_to(GUEST)).encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()


def player_path(cache: Path) -> Path:
    return cache / "player" / player_key()[:16] / "player"


def locate(cache: Path) -> Path:
    """Return the path of the player; LabMissing if it is not compiled."""
    path = player_path(cache)
    if not path.is_file():
        raise LabMissing(f"no player in {path.parent}: run `firstflight replay build-lab`")
    return path


def build_player(cache: Path, say: Callable[[str], None]) -> Path:
    path = player_path(cache)
    if path.is_file():
        return path
    if shutil.which("gcc") is None:
        raise LabMissing("to compile the replay's player: apt-get install build-essential")
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    with scratch_folder(path.parent.parent) as scratch:
        finished = scratch / "finished"
        finished.mkdir()
        c_files = [str(source) for source in sources() if source.suffix == ".c"]
        run(
            [*COMPILE, f"-I{GUEST}", "-o", str(finished / "player"), *c_files, *LIBRARIES],
            log=scratch / "log",
        )
        publish(finished, path.parent)
    say(f"player: {path}")
    return path
