import functools
import gzip
import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.sites import lists


def entries(content: str, **options: bool) -> list[lists.Entry]:
    reader = lists.Reader("l", **options)
    reader.read(content.encode())
    return reader.entries


def hosts(content: str) -> list[tuple[int, str]]:
    return [(entry.rank, entry.host) for entry in entries(content)]


def test_a_plain_list_is_ranked_by_its_lines() -> None:
    assert hosts("b.test\n\na.test\r\n") == [(1, "b.test"), (2, "a.test")]


def test_ranks_of_a_csv_are_kept_with_or_without_a_header() -> None:
    assert (
        hosts("3,b.test\n10,a.test\n")
        == hosts("rank,host\n3,b.test\n10,a.test")
        == [(3, "b.test"), (10, "a.test")]
    )


@pytest.mark.parametrize(
    ("written", "host"),
    [
        ("Example.COM", "example.com"),
        ("example.com.", "example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("faß.de", "xn--fa-hia.de"),
        ("例え。テスト", "xn--r8jz45g.xn--zckzah"),
        ("r3---sn-4g5e.example", "r3---sn-4g5e.example"),
        ("_dmarc.example", "_dmarc.example"),
        ("\ufeffexample.com", "example.com"),
        ("☃.example", "xn--n3h.example"),
        ("I❤.ws", "xn--i-7iq.ws"),
    ],
)
def test_a_host_becomes_lower_case_a_labels(written: str, host: str) -> None:
    assert hosts(written) == [(1, host)]


@pytest.mark.parametrize(
    "line",
    [
        "https://a.test/",
        "a.test/path",
        "a.test:443",
        "a test",
        "localhost",
        "192.0.2.1",
        "127.0x1",
        "127.0x",
        "[2001:db8::1]",
        "a..test",
        ".a.test",
        "-a.test",
        "a-.test",
        "a" * 64 + ".test",
        ".".join(["a" * 60] * 5),
        "user@a.test",
        "xn--\u2028.test",
        "a.test\0",
    ],
)
def test_a_line_that_is_no_host_is_named(line: str) -> None:
    with pytest.raises(lists.ListError, match=r"^line 2 of the list l is no host") as excinfo:
        hosts(f"ok.test\n{line}\n")
    assert str(excinfo.value).isprintable()


@pytest.mark.parametrize("content", ["", "\n\n  \n", "rank,host\n"])
def test_an_empty_list_is_an_error(content: str) -> None:
    with pytest.raises(lists.ListError, match="the list l is empty"):
        hosts(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a.test\nb.test\na.test", "line 3 of the list l repeats a.test of line 1"),
        ("A.test\na.test", "line 2 of the list l repeats a.test of line 1"),
        ("1,a.test\nb.test", "line 2 of the list l has other columns"),
        ("a.test\n2,b.test", "line 2 of the list l has other columns"),
        ("2,a.test\n2,b.test", "line 2 of the list l has rank 2 after rank 2"),
        ("0,a.test", "line 1 of the list l has no rank"),
        ("x,a.test", "line 1 of the list l has no rank"),
        ("1,", "line 1 of the list l is no host"),
        ("1,192.0.2.1", "line 1 of the list l is no host"),
        (
            "1,a.test,extra",
            "line 1 of the list l is of no form that is known: a list has a host a line, RANK,HOST",
        ),
        ("origin,share\nhttps://a.test,1", "line 1 of the list l is of no form that is known"),
        ('1,"a.test', "line 1 of the list l has quotes without an end"),
    ],
)
def test_a_malformed_list_names_its_line(content: str, message: str) -> None:
    with pytest.raises(lists.ListError, match=message):
        hosts(content)


def test_bytes_that_are_no_text_name_their_line() -> None:
    with pytest.raises(lists.ListError, match="line 2 of the list l is not UTF-8"):
        lists.Reader("l").read(b"a.test\n\xff\xfe\n")


def test_a_file_has_an_id_of_its_name_and_checksum(tmp_path: Path) -> None:
    file = tmp_path / "sites.txt"
    file.write_bytes(b"a.test\nb.test\n")
    sites = lists.read_list(file)
    checksum = hashlib.sha256(b"a.test\nb.test\n").hexdigest()
    assert (sites.id, sites.source, sites.checksum) == (f"sites.txt:{checksum[:12]}", "sites.txt", checksum)
    assert [entry.host for entry in sites.top(1)] == ["a.test"]
    assert len(sites.top(None)) == 2


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(lists.ListError, match="cannot be read: No such file"):
        lists.read_list(tmp_path / "none")


def test_crux_ranks_are_magnitudes_that_are_kept_beside_the_place() -> None:
    crux = "origin,rank\nhttps://b.test,1000\nhttps://a.test,1000\nhttp://c.test,5000\n"
    assert entries(crux) == [
        lists.Entry(1, "b.test", 1000),
        lists.Entry(2, "a.test", 1000),
        lists.Entry(3, "c.test", 5000),
    ]


CRUX: list[dict[str, object]] = [
    {"origin": "https://b.test", "rank": 1000},
    {"origin": "https://a.test", "rank": "5000"},
]
NESTED = [{"origin": row["origin"], "experimental": {"popularity": {"rank": row["rank"]}}} for row in CRUX]


@pytest.mark.parametrize("rows", [CRUX, NESTED])
@pytest.mark.parametrize(
    "write",
    [
        json.dumps,
        functools.partial(json.dumps, indent=2),
        lambda rows: "\n".join(map(json.dumps, rows)) + "\n",
    ],
    ids=["array", "indented", "lines"],
)
def test_bigquerys_json_of_crux_is_read(write: Callable[[object], str], rows: object) -> None:
    assert entries(write(rows)) == [lists.Entry(1, "b.test", 1000), lists.Entry(2, "a.test", 5000)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"origin": "https://a.test"}]', "line 1 of the list l is of no form that is known"),
        ('[{"origin": "https://a.test", "rank": 1000}', "begins as JSON, but is none to its end"),
        ('{"origin": "https://a.test", "rank": 1000}\n{"origin"', "begins as JSON, but is none to its end"),
        ('{"origin": "https://a.test", "rank": 1000}\n7', "begins as JSON, but is none to its end"),
        (
            '{"rank": 1000, "origin": "https://a.test"}\n{"origin": 1}',
            "line 2 of the list l has other columns",
        ),
        ('[{"origin": null, "rank": 1000}]', "line 1 of the list l is no origin"),
        ("{}", "the list l is JSON of no form that is known"),
        ('[{"site": "a.test"}]', "the list l is JSON of no form that is known"),
    ],
)
def test_json_that_is_no_list_is_said_in_a_line(content: str, message: str) -> None:
    with pytest.raises(lists.ListError, match=message):
        entries(content)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_a_list_may_be_in_any_form_of_unicode(encoding: str) -> None:
    reader = lists.Reader("l")
    reader.read("1,a.test\r\n2,bücher.example\r\n".encode(encoding))
    assert [entry.host for entry in reader.entries] == ["a.test", "xn--bcher-kva.example"]


def test_half_a_character_of_utf_16_is_said_in_a_line() -> None:
    with pytest.raises(lists.ListError, match="the list l is cut short: it is UTF-16 to byte"):
        lists.Reader("l").read("a.test".encode("utf-16")[:-1])


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("https://a.test/", ": write a.test"),
        ("a.test:443", ": write a.test"),
        ("http://a.test:80/x", ": write a.test"),
        ("a.test:8443", ": leave it out, since"),
        ("user@a.test", "'user@a.test'$"),
    ],
)
def test_a_line_that_is_no_host_says_what_to_do(line: str, remedy: str) -> None:
    with pytest.raises(lists.ListError, match=remedy):
        hosts(line)


def test_an_origin_at_its_usual_port_is_a_site_and_another_is_to_be_left_out() -> None:
    assert hosts("origin,rank\nhttps://a.test:443,1000\nhttp://b.test/,1000") == [
        (1, "a.test"),
        (2, "b.test"),
    ]
    with pytest.raises(lists.ListError, match=r"line 2 of the list l is no host.*leave it out"):
        hosts("origin,rank\nhttps://a.test:8443,1000")


def test_http_and_https_of_one_host_are_one_site() -> None:
    crux = "origin,rank\nhttps://a.test,1000\nhttp://a.test,5000\nhttps://b.test,5000\n"
    assert [(entry.host, entry.magnitude) for entry in entries(crux)] == [("a.test", 1000), ("b.test", 5000)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("https://a.test,1000", "line 3 of the list l repeats 'https://a.test' of line 2"),
        ("https://b.test,500", "line 3 of the list l has rank 500 after rank 1000"),
        ("b.test,1000", "line 3 of the list l is no origin"),
        ("https://b.test", "line 3 of the list l has other columns"),
        ("https://b.test:8443,1000", "line 3 of the list l is no host"),
    ],
)
def test_a_malformed_line_of_crux_is_named(line: str, message: str) -> None:
    with pytest.raises(lists.ListError, match=message):
        hosts(f"origin,rank\nhttps://a.test,1000\n{line}\n")


def test_a_public_list_may_hold_a_few_lines_that_are_no_hosts() -> None:
    reader = lists.Reader("l", may_skip=True)
    reader.read(b"1,a.test\n2,192.0.2.1\n3,b.test\n")
    assert ([entry.rank for entry in reader.entries], reader.skipped) == ([1, 3], 1)
    with pytest.raises(lists.ListError, match="holds 2 lines of 3 that are no hosts"):
        entries("1,a.test\n2,192.0.2.1\n3,192.0.2.2\n", may_skip=True)


def test_a_gzipped_list_is_read_and_one_cut_short_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "sites.csv.gz"
    packed = gzip.compress(b"".join(b"%d,s%d.test\n" % (n, n) for n in range(1, 2000)))
    file.write_bytes(packed)
    assert len(lists.read_list(file).entries) == 1999
    for cut in (len(packed) - 1, len(packed) // 2, 5):
        file.write_bytes(packed[:cut])
        with pytest.raises(lists.ListError, match="damaged or cut short"):
            lists.read_list(file)
    file.write_bytes(packed[:50] + b"x" * 50)
    with pytest.raises(lists.ListError, match="damaged or cut short"):
        lists.read_list(file)


def test_a_list_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "SIZE_LIMIT", 1000)
    file = tmp_path / "bomb.gz"
    file.write_bytes(gzip.compress(b"\0" * 10**6))
    with pytest.raises(lists.ListError, match="has more than 1,000 bytes"):
        lists.read_list(file)


def test_a_zipped_list_is_read_and_a_damaged_one_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "top-1m.csv.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("top-1m.csv", "1,google.com\n2,youtube.com\n")
    assert len(lists.read_list(file).entries) == 2
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    with pytest.raises(lists.ListError, match="damaged or cut short"):
        lists.read_list(file)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("other.csv", "1,google.com\n")
        archive.writestr("more.csv", "1,google.com\n")
    with pytest.raises(lists.ListError, match="zip of 2 files"):
        lists.read_list(file)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cloudflare.csv", ["google.com", "youtube.com"]),
        ("majestic.csv", ["google.com", "facebook.com"]),
        ("quoted.csv", ["google.com", "youtube.com"]),
        ("top-1m.csv.zip", ["google.com", "youtube.com"]),
        # Five of its names are no hosts of sites: a top-level domain, a service and the like.
        ("umbrella.csv", ["google.com", "netflix.com", "microsoft.com", "ftl.netflix.com"]),
    ],
)
def test_files_of_public_lists_are_read_as_they_are_given_out(name: str, expected: list[str]) -> None:
    sites = lists.read_list(Path(__file__).parent / "given" / name)
    assert [entry.host for entry in sites.entries] == expected
    assert sites.skipped == (5 if name == "umbrella.csv" else 0)
