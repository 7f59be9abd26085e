"""Loads at the ends of the inputs of a report's ledger, as they are planned."""

import dataclasses

import pytest

from firstflight.commands.replay.options import sensitivity_replay
from firstflight.settings import from_environment
from replay.networks.profiles import symmetric
from replay.recipes.page_recipe import Object, Origin, Recipe

DOCUMENT = Object(response_id=1, origin=0, parent=-1, response_bytes=9_000, is_document=True)
PAGE = Recipe(
    page="a.test",
    visit_id=1,
    origins=(Origin(host="a.test", port=443, h2=True, tls_flight_bytes=3_000, tls_after_bytes=0),),
    objects=(DOCUMENT, dataclasses.replace(DOCUMENT, response_id=2, parent=0, is_document=False)),
    left_out=0,
)
LINE = symmetric("line", bps=10_000_000, rtt_us=50_000, source="tests")


@pytest.mark.parametrize(("fresh_s", "sizes"), [(None, []), (0, [9_000, 9_000]), (3_600, [9_000, 0])])
def test_a_second_visit_is_an_end_for_pages_whose_headers_tell_what_is_fresh(
    fresh_s: int | None, sizes: list[int]
) -> None:
    objects = tuple(dataclasses.replace(one, fresh_s=fresh_s) for one in PAGE.objects)
    page = dataclasses.replace(PAGE, objects=objects)
    found = sensitivity_replay(
        from_environment(), [page], [LINE], population=None, networks=1, windows=(10,)
    ).cells
    warm = [cell for cell in found if cell.conditions.warm_cache]
    assert [one.response_bytes for cell in warm for one in cell.recipe.objects] == sizes
    assert len({cell.conditions for cell in found}) == len(found) > 15
