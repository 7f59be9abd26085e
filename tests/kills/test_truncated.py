"""A power failure cuts the files that a command wrote last: what is sealed is found to be damaged, everything
else holds, and the next run of the command goes on or says what to do."""

import os
import shutil
import time
from pathlib import Path

import pytest

from storage.sums import SUMS
from tests.factories.made_up_report import REPLAY
from tests.kills.commands import KILLED, Commands
from tests.kills.world import COMMANDS, CRAWL, ERASED, SMALL_PARTS, World, named

pytestmark = [pytest.mark.process, pytest.mark.slow]

LAST = 4
"""Files that are cut, each by itself."""

CUT = [
    named(name, share, is_sample=(name, share) == ("import", 0.5))
    for name in COMMANDS
    for share in (0.0, 0.5)
    if name != "verify"
]
"""Commands that write, and the share of a file that is left."""


@pytest.mark.parametrize(("name", "share"), CUT)
def test_files_that_are_cut_are_noticed_and_hurt_nothing_else(
    firstflight: Commands, world: World, name: str, share: float
) -> None:
    call = world.arguments(name)
    began = time.time_ns()
    done = firstflight.run(call, world.environment)
    assert done.code == 0, done.output
    written = [path for path in world.data.rglob("*") if path.is_file() and path.stat().st_mtime_ns >= began]
    for path in sorted(written, key=lambda path: path.stat().st_mtime_ns)[-LAST:]:
        if not path.exists():  # the command made another of it
            continue
        content = path.read_bytes()
        left = content[: int(share * len(content))]
        path.write_bytes(left)
        again = firstflight.run(call, world.environment)
        assert again.is_told, (path, again.output)
        verified = firstflight.run(["verify"], world.environment)
        assert "Traceback" not in verified.output, (path, verified.output)
        damaged = [line for line in verified.output.splitlines() if line.startswith("DAMAGED")]
        is_sealed = any((above / SUMS).exists() for above in path.parents)
        is_cut = path.exists() and path.read_bytes() == left != content  # the command may make it again
        if is_sealed and is_cut:
            assert len(damaged) == 1, (path, verified.output)
        else:
            assert damaged == [], (path, verified.output)
        if is_cut:
            path.write_bytes(content)


NOTES = [
    "allowed_signers",
    "erasure.json",
    "erasure.lock",
    "opt-out.txt",
    "outside/httparchive.csv",
    f"replays/{CRAWL}.{REPLAY}/stage-01/manifest.json",
    f"replays/{CRAWL}.{REPLAY}/stage-01/stage.json",
]
"""Files of the data folder that commands read whatever they are asked."""

FORMS = [b"", b"[]\n", b"null\n", b"{}\n", b"\xff\xfe\x00", b"[" * 200_000, None]
"""What may stand in place of a note; None for a folder."""

READERS = ["verify --offline", "optout list", "release list", f"optout add {ERASED} --erase --dry-run"]


@pytest.mark.thorough
@pytest.mark.parametrize("note", NOTES)
def test_a_note_of_another_form_ends_in_no_traceback(
    firstflight: Commands, world: World, tmp_path: Path, note: str
) -> None:
    path = world.data / note
    path.parent.mkdir(exist_ok=True)
    for content in FORMS:
        if path.exists():
            path.rename(tmp_path / f"before-{time.time_ns()}")
        if content is None:
            path.mkdir()
        else:
            path.write_bytes(content)
        for call in [*READERS, " ".join(world.arguments("plan"))]:
            ended = firstflight.run(call.split(), world.environment)
            assert "Traceback" not in ended.output, (content, call, ended.output)
            assert ended.code == 0 or ended.output.strip(), (content, call)


@pytest.mark.lab
@pytest.mark.thorough
def test_a_replay_goes_on_from_the_parts_that_were_not_cut(firstflight: Commands, world: World) -> None:
    replay = world.arguments("replay")
    folder = world.data / "replays"
    shutil.rmtree(folder)
    assert firstflight.run(replay, world.environment, before=SMALL_PARTS).code == 0
    (stage,) = folder.glob(f"{CRAWL}.*/stage-01")
    parts = stage.with_name("stage-01.parts")
    expected = (stage / "cells.parquet").read_bytes()
    for name in ("cells.parquet", SUMS):
        shutil.rmtree(folder)
        command = firstflight.start(replay, world.environment, before=SMALL_PARTS)
        while not list(parts.glob(f"[0-9]*/{name}")):
            time.sleep(0.01)
        command.kill()
        assert command.wait().code == KILLED
        cut, *_ = parts.glob(f"[0-9]*/{name}")
        os.truncate(cut, cut.stat().st_size // 2)
        done = firstflight.run(replay, world.environment, before=SMALL_PARTS)
        assert done.code == 0, done.output
        assert (stage / "cells.parquet").read_bytes() == expected
