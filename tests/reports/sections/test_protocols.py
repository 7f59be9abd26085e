"""Pages by what their servers speak."""

from pathlib import Path

from reports.sections.protocols import KINDS, page_kinds
from tests.factories.made_up_crawl import MadeUp, release_of, write_tables


def test_pages_over_http_1_are_told_apart_by_their_bytes(tmp_path: Path) -> None:
    made_up = MadeUp()
    for old, new in ((0, 9_000), (1_000, 9_000), (5_000, 5_000), (9_000, 0)):
        made_up.add_visit()
        for size, protocol in ((old, "http/1.1"), (new, "h2")):
            if size:
                made_up.add_connection(protocol=protocol)
                made_up.add_response(size)
    write_tables(tmp_path, made_up)
    kinds = page_kinds(release_of(tmp_path))
    assert [KINDS.index(kinds[visit]) for visit in (1, 2, 3, 4)] == [0, 1, 1, 1]
