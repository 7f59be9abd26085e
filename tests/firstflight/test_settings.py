from __future__ import annotations

from typing import TYPE_CHECKING

from firstflight.settings import from_environment

if TYPE_CHECKING:
    import pytest


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
