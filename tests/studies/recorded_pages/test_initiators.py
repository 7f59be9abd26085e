"""What made the browser ask: recorded, or inferred from Referer, type and order."""

import pytest

from recordings.connections import rebuild
from studies.recorded_pages import initiators
from studies.recorded_pages.initiators import INFERRED, RULES, find_initiators
from tests.factories.recorded_pages import Row, document, requests, row


def initiators_of(*rows: Row) -> list[tuple[int | None, str]]:
    given = requests(*rows)
    times = rebuild([request.network_request for request in given if request.crossed_network]).times
    return [(initiator.entry, initiator.rule) for initiator in find_initiators(given, times)]


AFTER = 215.0
"""End of the main document, in ms."""


def test_what_begins_while_the_document_arrives_or_shortly_after_is_its_parsers() -> None:
    ask = [row(1, started_ms=206.0), row(2, started_ms=AFTER + 99, destination="image")]
    assert initiators_of(document(), *ask)[1:] == [(0, initiators.PARSER)] * 2


def test_what_begins_later_is_of_the_script_that_arrived_last() -> None:
    scripts = [
        row(1, started_ms=206.0),
        row(2, started_ms=207.0, wait_ms=400.0),
    ]  # they end at 316 and 617 ms
    late = [row(3, started_ms=600.0), row(4, started_ms=650.0, destination="empty")]
    assert initiators_of(document(), *scripts, *late)[3:] == [(1, initiators.SCRIPT), (2, initiators.SCRIPT)]


def test_a_fetch_is_never_the_parsers() -> None:
    rows = [document(), row(1, started_ms=206.0), row(2, started_ms=330.0, destination="empty")]
    assert initiators_of(*rows)[2] == (1, initiators.SCRIPT)


def test_a_font_is_of_the_style_sheet_that_arrived_last_even_if_a_script_came_later() -> None:
    style = row(1, started_ms=206.0, destination="style")
    rows = [document(), style, row(2, started_ms=207.0), row(3, started_ms=400.0, destination="font")]
    assert initiators_of(*rows)[3] == (1, initiators.STYLE)


def test_a_referer_that_is_a_style_sheet_is_a_recorded_fact() -> None:
    style = row(1, started_ms=206.0, destination="style")
    image = row(2, started_ms=900.0, destination="image", referer_entry=1, referer_is_origin_only=False)
    assert initiators_of(document(), style, image)[2] == (1, initiators.STYLE_SHEET_REFERER)


def test_a_frames_requests_are_of_the_frame() -> None:
    frame = row(1, started_ms=206.0, destination="iframe", origin=1)
    inside = row(2, started_ms=320.0, destination="script", referer_entry=1, referer_is_origin_only=True)
    assert initiators_of(document(), frame, inside)[2] == (1, initiators.PARSER)


def test_a_redirect_leads_to_its_target_and_the_navigation_has_no_initiator() -> None:
    away = row(0, destination="document", status=301, transfer_bytes=None, connect_ms=100.0, ssl_ms=60.0)
    main = document(started_ms=300.0, redirected_from=0) | {"entry": 1}
    assert initiators_of(away, main) == [(None, initiators.NONE), (0, initiators.REDIRECT)]


@pytest.mark.parametrize("rule", RULES)
def test_the_meaning_of_a_rule_says_whether_it_infers(rule: str) -> None:
    assert RULES[rule].startswith("inferred") == (rule in INFERRED)
