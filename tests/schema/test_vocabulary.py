"""Final outcomes of visits."""

from schema.vocabulary import OUTCOMES, RETRIED


def test_an_answer_of_the_site_is_final_and_other_outcomes_are_retried() -> None:
    assert set(OUTCOMES) - RETRIED == {"ok", "http_error", "redirect_loop", "blocked"}
    assert set(OUTCOMES) >= RETRIED
