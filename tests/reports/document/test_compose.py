"""The limits of recorded pages in a sentence, from what their release says of itself."""

import pytest

from releases.formatting import in_ascii
from reports.content import InferredFacts, RecordedFacts
from reports.document.compose import limits_sentence
from tests.factories.answers import bundled_facts, bundled_limits


def test_the_bundled_pages_are_of_one_country_and_day_and_went_through_a_vpn() -> None:
    assert in_ascii(bundled_limits()) == (
        "Recorded pages, not the live web: 591 from 841 HAR files of the top 1 000 sites of the Chrome UX "
        "Report for Argentina, loaded on one day, 25 August 2025, by somebody else's browser through a VPN; "
        "connections are rebuilt for 81.6 % of the requests."
    )


@pytest.mark.parametrize("share", [None, 0.0])
def test_recordings_that_name_their_connections_need_none_rebuilt(share: float | None) -> None:
    recording: RecordedFacts = {
        **bundled_facts(),
        "pages": 3,
        "source": "visits of an office, in a cupboard; facts alone",
        "recorded": "2026-01-02 to 2026-01-05",
        "inferred": {"connections": {"share": share, "requests": {}, "rules": {}}},
    }
    assert in_ascii(limits_sentence(recording, vantage="berlin")) == (
        "Recorded pages, not the live web: 3 from visits of an office, loaded from 2026-01-02 to 2026-01-05 "
        "by somebody else's browser from the vantage berlin."
    )


def test_what_a_proxy_hid_is_said_to_be_assigned() -> None:
    unknown: InferredFacts = {"share": 1.0, "requests": {}, "rules": {}}
    recording: RecordedFacts = {
        **bundled_facts(),
        "inferred": {"connections": unknown, "protocols": unknown},
    }
    said = limits_sentence(recording, vantage="california")
    assert said.endswith("; protocols and connections, which a proxy hid, are assigned.")
