"""Every outcome of the schema, and no other, is provoked by a test with a browser."""

from schema.vocabulary import OUTCOMES
from tests.crawler.egress import test_guard
from tests.crawler.outages import test_lanes
from tests.crawler.visit import test_network_changed, test_visit


def test_every_outcome_is_provoked_in_a_browser() -> None:
    provoked = {
        outcome
        for module in (test_visit, test_network_changed, test_guard, test_lanes)
        for test in vars(module).values()
        for mark in getattr(test, "pytestmark", ())
        if mark.name == "outcomes"
        for outcome in mark.args
    }
    assert provoked == set(OUTCOMES)
