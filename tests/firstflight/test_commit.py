import importlib.metadata
import subprocess
from pathlib import Path

import pytest

from firstflight import commit

TREE = Path(__file__).parents[2]


def test_in_a_source_tree_the_commit_is_the_trees_whatever_is_stated() -> None:
    head = subprocess.run(
        ["git", "-C", TREE, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert commit.code_commit("stated").removesuffix("-dirty") == head


def test_outside_a_source_tree_it_is_the_stated_one_or_the_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit, "ROOT", tmp_path)
    assert commit.code_commit("cafe") == "cafe"
    assert commit.code_commit(None) == "v" + importlib.metadata.version("firstflight")
