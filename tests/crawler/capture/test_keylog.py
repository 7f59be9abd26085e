"""Secrets that a browser logs can be looked up."""

from __future__ import annotations

import os
import ssl
import stat
from typing import TYPE_CHECKING

import pytest

from crawler.capture import keylog
from crawler.capture.keylog import MASTER_SECRET, SERVER_TRAFFIC_SECRET, KeyLog

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RANDOM = bytes(range(32))
SECRET = bytes(range(48))


@pytest.fixture
def log(tmp_path: Path) -> Iterator[KeyLog]:
    log = KeyLog(tmp_path / "keys")
    yield log
    log.close()


def line(label: str = MASTER_SECRET, random: bytes = RANDOM, secret: bytes = SECRET) -> bytes:
    return f"{label} {random.hex()} {secret.hex()}\n".encode()


def write(log: KeyLog, data: bytes) -> None:
    """Write as a browser does: it opens the FIFO, writes without waiting and may close it again."""
    pipe = os.open(log.path, os.O_WRONLY | os.O_NONBLOCK)
    assert os.write(pipe, data) == len(data)
    os.close(pipe)


def test_a_secret_is_found_by_its_label_and_random(log: KeyLog) -> None:
    write(log, line() + line(SERVER_TRAFFIC_SECRET, RANDOM, SECRET[:32]))
    assert log.secret("CLIENT_RANDOM", RANDOM) == SECRET
    assert log.secret("SERVER_TRAFFIC_SECRET_0", RANDOM) == SECRET[:32]
    assert log.secret("CLIENT_RANDOM", bytes(32)) is None


def test_nothing_is_found_before_it_is_written_and_the_log_outlives_its_writers(log: KeyLog) -> None:
    assert log.secret(MASTER_SECRET, RANDOM) is None
    write(log, line())
    assert log.secret(MASTER_SECRET, RANDOM) == SECRET
    write(log, line(random=bytes(32)))
    assert log.secret(MASTER_SECRET, bytes(32)) == SECRET
    assert log.secret(MASTER_SECRET, RANDOM) == SECRET


def test_a_line_may_come_in_pieces(log: KeyLog) -> None:
    for at in range(len(line()) - 1):
        write(log, line()[at : at + 1])
        assert log.secret(MASTER_SECRET, RANDOM) is None
    write(log, b"\n")
    assert log.secret(MASTER_SECRET, RANDOM) == SECRET


@pytest.mark.parametrize(
    "other",
    [
        line().replace(b" ", b"  "),
        line()[:-2] + b"\n",
        line().replace(b"0", b"g"),
        b"# " + line(),
        b" " + line(),
        line()[:-1] + b" \n",
        line(random=RANDOM[:31]),
        line(random=RANDOM + b"x"),
        line(secret=b""),
        line(secret=bytes(65)),
        line("CLIENT_TRAFFIC_SECRET_0"),
        line("EXPORTER_SECRET"),
        line("client_random"),
        b"\n\n\0\xff\xfe\n",
    ],
)
def test_anything_else_is_ignored(log: KeyLog, other: bytes) -> None:
    write(log, other)
    labels = (MASTER_SECRET, SERVER_TRAFFIC_SECRET, "CLIENT_TRAFFIC_SECRET_0", "EXPORTER_SECRET")
    assert [log.secret(label, RANDOM) for label in (*labels, "client_random")] == [None] * 5
    write(log, line())
    assert log.secret(MASTER_SECRET, RANDOM) == SECRET


def test_capital_digits_and_carriage_returns_are_read(log: KeyLog) -> None:
    write(log, f"CLIENT_RANDOM {RANDOM.hex().upper()} {SECRET.hex().upper()}\r\n".encode())
    assert log.secret(MASTER_SECRET, RANDOM) == SECRET


def test_the_end_of_an_endless_line_is_not_a_line(log: KeyLog) -> None:
    for _ in range(100):
        write(log, b"x" * 50_000)
        log.poll()
    write(log, line())
    assert log.secret(MASTER_SECRET, RANDOM) is None
    write(log, line())
    assert log.secret(MASTER_SECRET, RANDOM) == SECRET


def test_the_oldest_is_forgotten_first(log: KeyLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keylog, "SECRETS_LIMIT", 2)
    first, second, third = (bytes([number]) * 32 for number in range(3))
    for random in (first, second, first, third):  # the first anew, which makes the second the oldest
        write(log, line(random=random))
    found = [log.secret(MASTER_SECRET, random) for random in (first, second, third)]
    assert found == [SECRET, None, SECRET]


def test_all_waiting_lines_are_read_at_once(log: KeyLog) -> None:
    lines = b"".join(line(random=number.to_bytes(32, "big")) for number in range(5000))
    assert 2**19 < len(lines) < 2**20
    write(log, lines)
    assert log.secret(MASTER_SECRET, (4999).to_bytes(32, "big")) == SECRET


def test_only_the_owner_can_write_to_the_fifo_which_ends_with_the_log(tmp_path: Path) -> None:
    log = KeyLog(tmp_path / "keys")
    mode = log.path.stat().st_mode
    assert stat.S_ISFIFO(mode)
    assert stat.S_IMODE(mode) == 0o600
    write(log, line())
    log.poll()
    log.close()
    log.close()
    assert not log.path.exists()
    assert log.secret(MASTER_SECRET, RANDOM) == SECRET


def test_a_file_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "keys").touch()
    with pytest.raises(FileExistsError):
        KeyLog(tmp_path / "keys")


def test_the_key_log_of_openssl_is_read(log: KeyLog) -> None:
    client = ssl.create_default_context()
    client.keylog_filename = str(log.path)
    log.poll()  # its first line is a comment
    write(log, line())
    assert log.secret(MASTER_SECRET, RANDOM) == SECRET
