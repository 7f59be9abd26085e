import dataclasses
import subprocess
from pathlib import Path

import click
import pytest

from firstflight.settings import from_environment
from storage.signatures import Signer


def test_an_empty_variable_is_an_unset_one(monkeypatch: pytest.MonkeyPatch) -> None:
    names = (
        "FIRSTFLIGHT_DATA_DIR",
        "FIRSTFLIGHT_CACHE_DIR",
        "FIRSTFLIGHT_DATABASE_URL",
        "FIRSTFLIGHT_CHROMIUM",
    )
    for name in names:
        monkeypatch.delenv(name, raising=False)
    unset = from_environment()
    for name in names:
        monkeypatch.setenv(name, "")
    assert from_environment() == unset
    assert unset.data_dir.name == "firstflight"


def test_networks_that_pages_must_not_reach_are_kept_as_they_were_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("FIRSTFLIGHT_BLOCKED_NETWORKS", raising=False)
    assert from_environment().blocked_networks == ""
    monkeypatch.setenv("FIRSTFLIGHT_BLOCKED_NETWORKS", "9.9.9.0/24, 2606:4700::1")
    assert from_environment().blocked_networks == "9.9.9.0/24, 2606:4700::1"


def test_signatures_count_by_a_list_in_the_data_folder_unless_another_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FIRSTFLIGHT_DATA_DIR", str(tmp_path))
    assert from_environment().allowed_signers == tmp_path / "allowed_signers"
    assert from_environment().signer is None
    (tmp_path / "none").touch()
    monkeypatch.setenv("FIRSTFLIGHT_SIGNING_KEY", str(tmp_path / "none"))  # as in a stack without a key
    assert from_environment().signer is None
    monkeypatch.setenv("FIRSTFLIGHT_ALLOWED_SIGNERS", "/etc/firstflight/signers")
    monkeypatch.setenv("FIRSTFLIGHT_SIGNING_KEY", str(tmp_path / "key"))
    assert from_environment().signer == Signer(
        key=tmp_path / "key", allowed_signers=Path("/etc/firstflight/signers")
    )


def test_replays_of_an_earlier_version_are_refused_until_they_are_moved(tmp_path: Path) -> None:
    settings = dataclasses.replace(from_environment(), data_dir=tmp_path)
    stage = tmp_path / "decisions" / "2026-11.desktop.local.tcp.web.0e5c2f1a" / "stage-01"
    stage.mkdir(parents=True)
    with pytest.raises(click.ClickException, match=r"`mkdir -p .*/replays && mv .*/decisions/\* ") as refused:
        _ = settings.replays
    subprocess.run(refused.value.message.split("`")[1], shell=True, check=True)
    assert (settings.replays / stage.parent.name / "stage-01").is_dir()
    old = tmp_path / "replays" / "2026-11.desktop.local.tcp.web" / "replay.json"
    old.parent.mkdir()
    old.touch()
    with pytest.raises(click.ClickException, match="move it away, and replay again"):
        _ = settings.replays
