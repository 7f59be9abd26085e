import gzip
from pathlib import Path

from crawler.sites import forgetting


def test_a_list_of_ones_own_loses_the_lines_of_the_host_and_one_that_can_be_fetched_goes(
    tmp_path: Path,
) -> None:
    (tmp_path / "tranco").mkdir()
    (tmp_path / "crux").mkdir()
    plain, ranked = tmp_path / "sites.txt", tmp_path / "ranked.csv"
    tranco, crux = tmp_path / "tranco/K2LPW.csv", tmp_path / "crux/2026-10.csv.gz"
    other = tmp_path / "tranco/AAAAA.csv"
    plain.write_text("a.test\nwww.b.test\nbb.test\nb.test.other.test\n")
    ranked.write_text("1,a.test\n2,b.test\n3,c.test\n")
    tranco.write_text("1,b.test\n")
    other.write_text("1,a.test\n")
    crux.write_bytes(gzip.compress(b"origin,rank\nhttps://b.test,1000\n"))
    paths = list(forgetting.find_lists(tmp_path, "b.test"))
    assert set(paths) == {plain, ranked, tranco, crux}
    for path in paths:
        forgetting.forget_host(tmp_path, path, "b.test")
    assert plain.read_text() == "a.test\nbb.test\nb.test.other.test\n"
    assert ranked.read_text() == "1,a.test\n3,c.test\n"
    assert not tranco.exists()
    assert not crux.exists()
    assert other.exists()
    assert list(forgetting.find_lists(tmp_path, "b.test")) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crux", "ranked.csv", "sites.txt", "tranco"]


def test_a_packed_list_of_ones_own_stays_packed(tmp_path: Path) -> None:
    packed = tmp_path / "sites.txt.gz"
    packed.write_bytes(gzip.compress("a.test\nb\u00fccher.test\n".encode()))
    forgetting.forget_host(tmp_path, packed, "xn--bcher-kva.test")
    assert gzip.decompress(packed.read_bytes()) == b"a.test\n"
