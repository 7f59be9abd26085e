"""The progress bar of a command that is one of several steps."""

import dataclasses
from pathlib import Path

import pytest

from firstflight.bars import Reached, bar, read_bar
from firstflight.settings import from_environment


def test_a_bar_in_a_file_says_how_far_the_command_is_and_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bar"
    settings = dataclasses.replace(from_environment(), bar_file=file)
    assert read_bar(file) is None
    with bar(settings, total=8, initial=2, unit=" rows") as progress:
        assert read_bar(file) == Reached(done=2, total=8, unit="rows")
        progress.update(3)
    assert read_bar(file) == Reached(done=5, total=8, unit="rows")
    assert capfd.readouterr() == ("", "")


def test_without_a_file_or_a_terminal_a_bar_shows_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with bar(dataclasses.replace(from_environment(), bar_file=None), total=8) as progress:
        progress.update(8)
    assert capfd.readouterr() == ("", "")
