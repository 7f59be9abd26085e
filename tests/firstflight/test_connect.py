"""Commands connect to their database also where another command stops an embedded server meanwhile."""

import dataclasses
from unittest.mock import Mock

import pytest
from sqlalchemy import Engine

from firstflight import connect
from firstflight.settings import from_environment
from storage.engine import DatabaseUnreachable

STOPPED = DatabaseUnreachable("no server answers")


def connect_once_stopped(monkeypatch: pytest.MonkeyPatch, *, url: str | None) -> Engine:
    """Connect where the first upgrade finds no server any more."""
    monkeypatch.setattr("storage.embedded.start", lambda _: "postgresql://embedded/")
    monkeypatch.setattr("storage.migrate.upgrade", Mock(side_effect=[STOPPED, None]))
    return connect.engine(dataclasses.replace(from_environment(), database_url=url))


def test_an_embedded_server_that_another_command_stopped_is_started_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connected = connect_once_stopped(monkeypatch, url=None)
    assert connected.url.host == "embedded"
    connected.dispose()


def test_a_server_of_others_that_does_not_answer_is_an_error_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DatabaseUnreachable):
        connect_once_stopped(monkeypatch, url="postgresql://others/")
