"""Which ends of a visit are the last word on a site."""

from __future__ import annotations

from schema.vocabulary import OUTCOMES, RETRIED


def test_an_answer_of_the_site_is_final_and_all_else_is_tried_again() -> None:
    assert set(OUTCOMES) - RETRIED == {"ok", "http_error", "redirect_loop", "blocked"}
    assert set(OUTCOMES) >= RETRIED
