import contextlib
import os
from pathlib import Path

import pytest

from replay.errors import BuildFailed, KernelError, LabMissing
from replay.lab import kernel, player
from replay.lab.scratch import executable_folder

pytestmark = pytest.mark.process


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A cache that holds something in the kernel's place."""
    path = kernel.kernel_path(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"kernel")
    return tmp_path


def test_a_kernel_that_is_there_is_not_built_again(built: Path) -> None:
    assert kernel.build_kernel(built, pytest.fail) == kernel.locate(built)
    assert kernel.locate(built).read_bytes() == b"kernel"


def test_a_missing_kernel_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="firstflight replay build-lab"):
        kernel.locate(tmp_path)
    with pytest.raises(LabMissing, match="firstflight replay build-lab"):
        player.locate(tmp_path)


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kernel, "PACKAGE", "linux-source-0.0")
    with pytest.raises(KernelError, match=r"apt-get install linux-source-0\.0"):
        kernel.build_kernel(tmp_path, pytest.fail)


def test_an_image_that_has_the_built_kernel_alone_says_what_it_was_built_from(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    version = kernel.package_version()
    (tmp_path / "version").write_text(version)
    path = kernel.kernel_path(tmp_path)
    monkeypatch.setattr(kernel, "PACKAGE", "linux-source-0.0")
    monkeypatch.setattr(kernel, "VERSION", tmp_path / "none")
    with pytest.raises(KernelError, match="apt-get install"):
        kernel.kernel_path(tmp_path)
    monkeypatch.setattr(kernel, "VERSION", tmp_path / "version")
    assert kernel.kernel_path(tmp_path) == path


def test_a_missing_tool_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(kernel, "package_version", lambda: "1")
    with pytest.raises(KernelError, match=r"apt-get install .*bison"):
        kernel.build_kernel(tmp_path, pytest.fail)


def test_the_key_depends_on_options_edits_and_version_but_not_on_comments(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key = kernel.build_key("1")
    assert kernel.build_key("2") != key
    text = kernel.CONFIG.read_text(encoding="utf-8")
    commented, optioned = tmp_path / "commented", tmp_path / "optioned"
    commented.write_text(f"# one more\n{text}", encoding="utf-8")
    optioned.write_text(f"{text}CONFIG_NET_SCH_PIE=y\n", encoding="utf-8")
    monkeypatch.setattr(kernel, "CONFIG", commented)
    assert kernel.build_key("1") == key
    monkeypatch.setattr(kernel, "CONFIG", optioned)
    assert kernel.build_key("1") != key
    monkeypatch.undo()
    monkeypatch.setattr(kernel, "patches", list)
    assert kernel.build_key("1") != key
    monkeypatch.undo()
    monkeypatch.setattr(kernel, "ADDED", {})
    assert kernel.build_key("1") != key


def test_the_guest_has_every_queue_and_congestion_control_that_a_question_may_name() -> None:
    options = kernel.CONFIG.read_text(encoding="utf-8").splitlines()
    for queue in ("NETEM", "HTB", "TBF", "RED", "FQ", "FQ_CODEL", "CAKE"):
        assert f"CONFIG_NET_SCH_{queue}=y" in options
    for control in (
        *("CUBIC", "BBR", "HTCP", "HYBLA", "SCALABLE", "YEAH"),
        *("VEGAS", "WESTWOOD", "ILLINOIS", "FLD"),
    ):
        assert f"CONFIG_TCP_CONG_{control}=y" in options


def test_every_patch_says_why_it_is_there() -> None:
    for patch in kernel.patches():
        reason, _, _ = patch.read_text(encoding="utf-8").partition("--- a/")
        assert len(reason.split()) >= 10, patch


def test_a_source_that_is_not_as_the_patches_expect_stops_the_build(tmp_path: Path) -> None:
    for patch in kernel.patches():
        for line in patch.read_text(encoding="utf-8").splitlines():
            if line.startswith("--- a/"):
                source = tmp_path / line.removeprefix("--- a/")
                source.parent.mkdir(parents=True, exist_ok=True)
                source.write_text("something else", encoding="utf-8")
    with pytest.raises(BuildFailed, match="patch failed"):
        kernel.configure(tmp_path, log=tmp_path / "log")


def test_what_a_killed_build_left_behind_is_removed(tmp_path: Path) -> None:
    stale = tmp_path / ".build-killed"
    stale.mkdir()
    with kernel.sole_builder(tmp_path, pytest.fail):
        assert not stale.exists()


def test_a_second_build_waits_for_the_first_and_shows_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said: list[str] = []
    shown: list[int] = []
    with contextlib.ExitStack() as first:
        first.enter_context(kernel.sole_builder(tmp_path, pytest.fail))
        (tmp_path / ".build-first").mkdir()
        (tmp_path / ".build-first" / "log").write_text("  CC      a.o\n  HOSTCC  b.o\n  AR      c.a\n")
        monkeypatch.setattr(kernel, "SECONDS_BETWEEN_TRIES", 0)

        def show_and_end_the_first(compiled: int, _began: float) -> None:
            shown.append(compiled)
            first.close()

        monkeypatch.setattr(kernel, "show_progress", show_and_end_the_first)
        with kernel.sole_builder(tmp_path, said.append):
            pass
    assert said == ["waiting for another build of the guest kernel"]
    assert shown == [2]


def test_a_failed_step_shows_the_end_of_its_log(tmp_path: Path) -> None:
    with pytest.raises(BuildFailed, match="no rule for this"):
        kernel.run(["/bin/sh", "-c", "echo no rule for this; exit 2"], log=tmp_path / "log")


def test_the_player_is_compiled_once_without_a_warning(tmp_path: Path) -> None:
    lines: list[str] = []
    path = player.build_player(tmp_path, lines.append)
    assert os.access(path, os.X_OK)
    assert player.build_player(tmp_path, pytest.fail) == path == player.locate(tmp_path)
    assert len(lines) == 1


def test_a_guest_has_no_room_where_nothing_is_executable(tmp_path: Path) -> None:
    with pytest.raises(LabMissing, match="point TMPDIR at one"):
        executable_folder([tmp_path / "absent", Path("/proc")])
