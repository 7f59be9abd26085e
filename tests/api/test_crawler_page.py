from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.contact import Contact, ContactError


def page(tmp_path: Path, contact: Contact) -> str:
    app = create_app(tmp_path / "releases", tmp_path / "reports", contact=contact)
    with TestClient(app) as client:
        answer = client.get("/about-the-crawler")
    assert answer.status_code == 200
    return " ".join(answer.text.split())


def test_the_page_says_how_to_opt_out_and_how_the_user_agent_ends(tmp_path: Path) -> None:
    shown = page(tmp_path, Contact(url="https://ask.test/bot", email="crawl@ask.test"))
    assert 'href="mailto:crawl@ask.test?subject=Leave%20my%20site%20out"' in shown
    assert 'href="https://ask.test/bot"' in shown
    assert "<code>(+https://ask.test/bot)</code>" in shown
    assert "robots.txt" in shown


def test_a_contact_url_of_this_page_itself_is_not_linked(tmp_path: Path) -> None:
    url = "https://sizes.test/about-the-crawler"
    shown = page(tmp_path, Contact(url=url, email="crawl@sizes.test"))
    assert f"<code>(+{url})</code>" in shown
    assert f'href="{url}"' not in shown


def test_without_a_contact_it_says_so_and_still_says_what_the_crawler_does(tmp_path: Path) -> None:
    shown = page(tmp_path, Contact())
    assert "has not given a contact address" in shown
    assert "mailto:" not in shown
    assert "a refusal is recorded and not evaded" in shown


def test_every_page_links_to_the_page_about_the_crawler(client: TestClient) -> None:
    for path in ("/", "/docs", "/problems"):
        assert '<a href="/about-the-crawler">About the crawler</a>' in client.get(path).text


@pytest.mark.parametrize(
    "bad",
    [
        {"url": "javascript:alert(1)"},
        {"url": "https://a.test/ b"},
        {"email": "nobody"},
        {"email": "a@b.test?bcc=c@d.test"},
        {"email": "a@b.test\n"},
    ],
)
def test_a_malformed_contact_is_refused(bad: dict[str, str]) -> None:
    with pytest.raises(ContactError, match="FIRSTFLIGHT_CONTACT_"):
        Contact(**bad)
