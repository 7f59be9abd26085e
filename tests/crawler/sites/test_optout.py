import hashlib
from pathlib import Path

import pytest

from crawler.sites import optout
from crawler.sites.lists import Entry, ListError


def test_a_site_that_opted_out_is_left_out_with_all_below_it_and_ranks_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "opt-out.txt"
    file.write_text("# asked by mail\nB\u00fccher.Example\n\nc.test  # and here\n", encoding="utf-8")
    out = optout.read_optout(file)
    hosts = ["a.test", "xn--bcher-kva.example", "www.c.test", "c.test", "cc.test", "test"]
    entries = [Entry(rank, host) for rank, host in enumerate(hosts, 1)]
    assert [(entry.rank, entry.host) for entry in out.filter_entries(entries)] == [
        (1, "a.test"),
        (5, "cc.test"),
        (6, "test"),
    ]
    assert out.checksum == hashlib.sha256(file.read_bytes()).hexdigest()


def test_an_empty_file_opts_nobody_out_and_a_missing_one_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "opt-out.txt"
    with pytest.raises(ListError, match="cannot be read: No such file"):
        optout.read_optout(file)
    file.touch()
    assert optout.read_optout(file).hosts == frozenset()


def test_a_line_that_is_no_host_is_named(tmp_path: Path) -> None:
    file = tmp_path / "opt-out.txt"
    file.write_text("a.test\nhttps://b.test/\n", encoding="utf-8")
    with pytest.raises(ListError, match=r"line 2 of the opt-out file opt-out\.txt is no host"):
        optout.read_optout(file)


def test_a_site_that_was_erased_is_left_out_by_its_hash_and_named_nowhere_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "opt-out.txt"
    file.write_text("# b.test wrote to us\nwww.b.test\nb.test\nc.test # asked by mail\n")
    assert optout.add(file, "b.test", hashed=True)
    assert not optout.add(file, "b.test", hashed=True)
    text = file.read_text()
    assert "b.test" not in text
    out = optout.read_optout(file)
    assert [out.covers(host) for host in ("b.test", "a.www.b.test", "bb.test", "test", "c.test")] == [
        True,
        True,
        False,
        False,
        True,
    ]
    assert optout.add(file, "d.test", hashed=True)
    assert len({salt for salt, _ in optout.read_optout(file).hashed}) == 1
    assert optout.remove(file, "b.test")
    assert not optout.read_optout(file).covers("b.test")
    assert optout.read_optout(file).covers("d.test")


def test_a_host_is_added_once_and_others_lines_stay_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "lists/opt-out.txt"
    assert optout.add(file, "a.test", hashed=False)
    file.write_text("# by mail\na.test\n")
    assert not optout.add(file, "a.test", hashed=False)
    assert optout.add(file, "b.test", hashed=False)
    assert file.read_text() == "# by mail\na.test\nb.test\n"
    assert not optout.remove(file, "c.test")
    assert optout.remove(file, "a.test")
    assert file.read_text() == "# by mail\nb.test\n"
    assert [path.name for path in file.parent.iterdir()] == ["opt-out.txt"]
