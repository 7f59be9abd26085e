"""Chromium's names of errors decide on the outcome of a visit."""

import pytest
from playwright.async_api import Error, TimeoutError  # noqa: A004  # Playwright's own

from crawler import errors
from crawler.visit.recorder import NET_ERRORS, translate_error
from schema.vocabulary import OUTCOMES


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("NAME_NOT_RESOLVED", "dns"),
        ("CONNECTION_REFUSED", "connect"),
        ("CONNECTION_RESET", "connect"),
        ("CONNECTION_TIMED_OUT", "connect"),
        ("ADDRESS_UNREACHABLE", "connect"),
        ("SSL_PROTOCOL_ERROR", "tls"),
        ("CERT_AUTHORITY_INVALID", "tls"),
        ("TOO_MANY_REDIRECTS", "redirect_loop"),
        ("EMPTY_RESPONSE", "bad_response"),
        ("CONNECTION_CLOSED", "bad_response"),
        ("INVALID_HTTP_RESPONSE", "bad_response"),
        ("HTTP2_PROTOCOL_ERROR", "bad_response"),
        ("ABORTED", "aborted"),
        ("BLOCKED_BY_CLIENT", "aborted"),
    ],
)
def test_an_error_has_one_outcome(name: str, outcome: str) -> None:
    error = translate_error(Error(f"Page.goto: net::ERR_{name} at https://a.test/\nCall log:\n"))
    assert (error.outcome, str(error)) == (outcome, f"net::ERR_{name}")


def test_other_errors_are_a_timeout_a_crash_or_an_aborted_navigation() -> None:
    translated = [
        translate_error(TimeoutError("Page.goto: Timeout 5000ms exceeded.")),
        translate_error(Error("Page.goto: Page crashed")),
        translate_error(Error("Page.goto: Target page, context or browser has been closed")),
        translate_error(Error("")),
    ]
    assert [type(error) for error in translated] == [
        errors.VisitTimeout,
        errors.PageCrashed,
        errors.NavigationAborted,
        errors.NavigationAborted,
    ]


def leaves(kind: type[errors.VisitError]) -> list[type[errors.VisitError]]:
    below = kind.__subclasses__()
    return [leaf for subclass in below for leaf in leaves(subclass)] if below else [kind]


def test_every_way_to_end_has_an_outcome_of_the_schema() -> None:
    assert {leaf.outcome for leaf in leaves(errors.VisitError)} == set(OUTCOMES) - {
        "ok",
        "http_error",
        "network_down",
    }
    assert {kind for _, kind in NET_ERRORS} <= set(leaves(errors.VisitError))
