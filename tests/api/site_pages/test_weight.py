"""The weight of a site's home page by month, of months that compare."""

import dataclasses
import html
import re
from pathlib import Path

from fastapi.testclient import TestClient

from releases.formatting import size
from tests.api.conftest import serving
from tests.api.rows.conftest import NAME, made_up, write_crawl
from tests.api.site_pages.test_pages import read
from tests.api.test_v1 import assert_problem

PAGE = "/sites/site1.test"


def write_month(releases: Path, month: str, received_bytes: int, *, device: str = "desktop") -> None:
    """Write a release whose page loads all received so many bytes."""
    crawl = made_up()
    for visit in crawl.visit:
        visit["received_bytes"] = received_bytes
    write_crawl(releases, dataclasses.replace(NAME, month=month, device=device), crawl)


def figures(client: TestClient) -> list[str]:
    """The addresses of the figure on the page of a site, in its widths."""
    addresses = re.findall(r'(?:src|srcset)="([^"]*weight[.]svg[^"]*)"', read(client, PAGE))
    return [html.unescape(address) for address in addresses]


def lines(drawing: str) -> int:
    """How many lines of series a drawing has."""
    return len(re.findall(r'<path d="M[-\d.,]+(?:L[-\d.,]+)+"', drawing))


def test_the_page_of_a_site_draws_its_weight_by_month_and_says_it_in_words(tmp_path: Path) -> None:
    for month, weight in (("2026-09", 2_000_000), ("2026-10", 2_500_000), ("2026-12", 3_000_000)):
        write_month(tmp_path, month, weight)
    with serving(tmp_path) as client:
        phone, desk = figures(client)
        for address in (phone, desk):
            drawing = client.get(address).text
            assert lines(drawing) == 1  # from September to October, without November
        (words,) = re.findall(r'weight[.]svg[^>]*alt="([^"]*)"', read(client, PAGE))
    assert all(
        f"{month} {size(weight)}" in words
        for month, weight in (("2026-09", 2_000_000), ("2026-12", 3_000_000))
    )


def test_devices_have_lines_with_their_names(tmp_path: Path) -> None:
    for month in ("2026-09", "2026-10"):
        write_month(tmp_path, month, 2_000_000)
        write_month(tmp_path, month, 1_000_000, device="mobile")
    with serving(tmp_path) as client:
        drawing = client.get(figures(client)[-1]).text
    assert all(f">{device}</text>" in drawing for device in ("desktop", "mobile"))
    assert lines(drawing) == 2


def test_months_that_do_not_compare_have_no_figure(months: Path) -> None:
    """The earlier month has one site, and the later twelve."""
    with serving(months) as client:
        assert figures(client) == []
        assert_problem(client.get(f"{PAGE}/weight.svg"), "not-found", 404, mentions="compared")


def test_the_number_of_a_site_without_a_name_is_no_series(tmp_path: Path) -> None:
    for month in ("2026-09", "2026-10"):
        crawl = made_up()
        for row in (*crawl.site, *crawl.visit):
            row["host"] = row["host"].replace(".test", ".invalid")
        write_crawl(tmp_path, dataclasses.replace(NAME, month=month), crawl)
    with serving(tmp_path) as client:
        assert "weight.svg" not in read(client, "/sites/site1.invalid")
