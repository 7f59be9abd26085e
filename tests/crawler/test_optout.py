from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from crawler import optout
from crawler.lists import Entry, ListError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_site_that_opted_out_is_left_out_with_all_below_it_and_ranks_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "opt-out.txt"
    file.write_text("# asked by mail\nB\u00fccher.Example\n\nc.test  # and here\n", encoding="utf-8")
    out = optout.read(file)
    hosts = ["a.test", "xn--bcher-kva.example", "www.c.test", "c.test", "cc.test", "test"]
    entries = [Entry(rank, host) for rank, host in enumerate(hosts, 1)]
    assert [(entry.rank, entry.host) for entry in out.kept(entries)] == [
        (1, "a.test"),
        (5, "cc.test"),
        (6, "test"),
    ]
    assert out.checksum == hashlib.sha256(file.read_bytes()).hexdigest()


def test_an_empty_file_opts_nobody_out_and_a_missing_one_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "opt-out.txt"
    with pytest.raises(ListError, match="cannot be read: No such file"):
        optout.read(file)
    file.touch()
    assert optout.read(file).hosts == frozenset()


def test_a_line_that_is_no_host_is_named(tmp_path: Path) -> None:
    file = tmp_path / "opt-out.txt"
    file.write_text("a.test\nhttps://b.test/\n", encoding="utf-8")
    with pytest.raises(ListError, match=r"line 2 of the opt-out file opt-out\.txt is no host"):
        optout.read(file)
