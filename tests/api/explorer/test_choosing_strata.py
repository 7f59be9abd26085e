"""Strata as choices of the explorer: their shares, their words,
and what a release or a measure does not know."""

import html
import re
from pathlib import Path

import pyarrow as pa
import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.explorer.strata import FIELDS
from schema.computed_tables import ITEM
from schema.crawls import CrawlName
from tests.api.conftest import item_table, write_release_with_items
from tests.api.explorer.conftest import MANY
from tests.api.explorer.test_explorer import rows, texts
from tests.api.test_v1 import assert_problem


def test_a_stratum_has_its_own_shares(client_of_items: TestClient) -> None:
    sizes = [
        row["size_bytes"]
        for row in item_table().to_pylist()
        if row["measure"] == "responses" and row["protocol"] == "h2"
    ]
    query = f"crawl={MANY}&measure=responses&iw=3&mss=1430&protocol=h2"
    (window,) = [row for row in rows(client_of_items, query) if row["iw"]]
    assert float(window["cdf"]) == sum(size <= 3 * 1430 for size in sizes) / len(sizes)
    assert (window["known"], window["stratum"]) == (str(len(sizes)), "protocol: h2")


def test_the_form_keeps_what_was_chosen_and_its_empty_fields_choose_nothing(
    client_of_items: TestClient,
) -> None:
    query = "page_kind=home&rank_stratum=&protocol=h2&resource_type=&party="
    page = client_of_items.get(f"/explore?crawl={MANY}&measure=responses&{query}")
    assert re.findall(r'<option value="([^"]*)" selected', page.text) == ["release", "cdf", "home", "h2"]
    (canonical,) = re.findall(r'<([^>]*)>; rel="canonical"', page.headers["link"])
    assert canonical.partition("&release=")[0].endswith("&protocol=h2")


def test_the_form_has_a_field_for_each_dimension_with_every_value(client_of_items: TestClient) -> None:
    page = client_of_items.get(f"/explore?crawl={MANY}").text
    for field in FIELDS:
        (options,) = re.findall(rf'<select name="{field.name}">(.*?)</select>', page, re.DOTALL)
        offered = [value for value in re.findall(r'value="([^"]*)"', options) if value]
        assert offered == list(field.options)


def test_the_figure_names_the_stratum(client_of_items: TestClient) -> None:
    query = f"crawl={MANY}&measure=responses&protocol=h2&rank_stratum=1000"
    assert "ranks: 1 to 1\u202f000; protocol: HTTP/2" in " ".join(texts(client_of_items, query))


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (f"crawl={MANY}&measure=pages&protocol=h2", "an item of this measure has no protocol"),
        (f"crawl={MANY}&measure=responses&protocol=h3", "no size is known"),
    ],
)
def test_an_unknown_stratum_is_said_in_a_sentence_and_has_no_number(
    client_of_items: TestClient, query: str, why: str
) -> None:
    page = client_of_items.get(f"/explore?{query}").text
    assert re.search(rf'<p class="small">[^<]*: {why}[^<]*\.</p>', page)
    row, *_ = re.findall(r"<tbody>(.*?)</tbody>", page, re.DOTALL)
    assert "%" not in re.sub(r'data-label="[^"]*"', "", row)
    assert rows(client_of_items, query) == []
    assert " ".join(why.split()[:3]) in " ".join(texts(client_of_items, query))


def test_measures_that_lack_the_stratum_are_not_shown_unless_chosen(client_of_items: TestClient) -> None:
    page = client_of_items.get(f"/explore?crawl={MANY}&protocol=h2").text
    measures, *_ = re.findall(r'<h3 id="([^"]*)">', page)
    assert measures == "responses"


@pytest.mark.parametrize("query", ["protocol=h4", "rank_stratum=5", "party=second", "resource_type=cat"])
def test_a_value_that_no_stratum_has_is_refused(client_of_items: TestClient, query: str) -> None:
    answer = client_of_items.get(f"/explore?crawl={MANY}&{query}")
    assert_problem(answer, "no-such-choice", 422, mentions=query.partition("=")[0])


def test_strata_stand_side_by_side_each_with_its_own_share(client_of_items: TestClient) -> None:
    query = f"crawl={MANY}&measure=responses&iw=3&mss=1430"
    windows = [row for row in rows(client_of_items, f"{query}&by=protocol") if row["iw"]]
    alone = [
        row
        for protocol in ("h2", "http/1.1")
        for row in rows(client_of_items, f"{query}&protocol={protocol}")
        if row["iw"]
    ]
    assert windows == alone
    bands = rows(client_of_items, f"{query}&by=rank_stratum")
    assert [*dict.fromkeys(row["stratum"] for row in bands)] == [
        "rank_stratum: 1000",
        "rank_stratum: 10000",
    ]


def test_requests_a_page_are_a_measure_without_windows_in_a_figure_of_their_own(
    client_of_items: TestClient,
) -> None:
    query = f"crawl={MANY}&measure=responses&measure=requests&measure=hosts"
    page = client_of_items.get(f"/explore?{query}").text
    assert re.findall(r'<h3 id="([^"]*)">', page)[:2] == ["responses-hosts", "requests2"]
    (line,) = rows(client_of_items, f"crawl={MANY}&measure=requests&figure=histogram")
    requests = sum(
        row["measure"] in ("responses", "responses_incomplete") for row in item_table().to_pylist()
    )
    assert (line["from_requests"], line["to_requests"], line["count"]) == ("10", "13", "30")
    assert requests == 30 * 10
    assert "10 requests a page at the median" in texts(client_of_items, f"crawl={MANY}&measure=requests")
    bands = texts(client_of_items, f"crawl={MANY}&measure=requests&by=rank_stratum")
    assert "10 (ranks 1 to 1\u202f000)" in " ".join(bands)


def test_a_measure_that_states_no_size_is_named_with_that_to_take_instead(tmp_path: Path) -> None:
    sizes = item_table().to_pylist()
    derived = [
        row | {"measure": "responses_derived"} if row["measure"] == "responses" else row for row in sizes
    ]
    unknown = [row | {"size_bytes": None} for row in sizes if row["measure"] == "responses"]
    items = pa.Table.from_pylist(sorted(derived + unknown, key=lambda row: row["measure"]), schema=ITEM)
    write_release_with_items(tmp_path, CrawlName(month="2019-12"), items=items)
    write_release_with_items(tmp_path, CrawlName(month="2025-08"))
    query = "crawl=2019-12&crawl=2025-08&measure=responses"
    with TestClient(create_app(tmp_path, tmp_path / "reports")) as client:
        page = client.get(f"/explore?{query}").text
        (address, instead) = re.findall(r'take <a href="(/explore[^"]*)">([^<]*)</a>', page)[0]
        assert instead == "responses of derived size"
        both = rows(client, html.unescape(address).partition("?")[2])
    assert {(row["release"][:7], row["measure"]) for row in both} == {
        ("2019-12", "responses_derived"),
        ("2025-08", "responses"),
    }
