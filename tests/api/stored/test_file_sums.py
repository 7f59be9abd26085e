"""Checksums of served files are computed once, without waiting for other files."""

import threading
from pathlib import Path

import pytest

from api.stored import inspection
from api.stored.inspection import Sums


def test_a_cached_checksum_does_not_wait_for_a_file_that_is_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_text("small")
    large.write_text("large")
    known, begun, may_end = Sums(), threading.Event(), threading.Event()
    expected = known.of(small)

    def slow(path: Path) -> str:
        begun.set()
        may_end.wait(120)
        return path.name

    monkeypatch.setattr(inspection, "sha256", slow)
    reading = threading.Thread(target=known.of, args=[large])
    reading.start()
    sums: list[str] = []
    assert begun.wait(120)
    asking = threading.Thread(target=lambda: sums.append(known.of(small)))
    asking.start()
    asking.join(5)
    waited = not sums
    may_end.set()
    reading.join()
    asking.join()
    assert not waited
    assert sums == [expected]
