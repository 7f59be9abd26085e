"""Recipes of a second visit, from made-up HAR files."""

import dataclasses
import json
from pathlib import Path

import pytest

from replay.recipes.variants import NOT_MODIFIED_BYTES, REVISIT_S, warm_recipe
from tests.factories.made_up_recording import DOCUMENT, entry, read_one, recipe_of_har, write_har


@pytest.fixture
def har(tmp_path: Path) -> Path:
    return write_har(tmp_path)


def test_a_second_visit_requests_the_document_and_stale_responses(har: Path) -> None:
    cold = read_one(har).recipe
    warm = warm_recipe(cold)
    assert [object_.response_id for object_ in warm.requested] == [1, 4, 5]
    assert [object_.parent for object_ in warm.objects] == [object_.parent for object_ in cold.objects]
    assert warm.origins == cold.origins


def test_a_stale_response_with_a_validator_is_a_304(tmp_path: Path) -> None:
    tagged = {"ETag": '"1"', "Cache-Control": "no-cache"}
    cold = recipe_of_har(
        tmp_path,
        {**DOCUMENT, "response": {**DOCUMENT["response"], "headers": [{"name": "etag", "value": '"1"'}]}},
        entry("https://a.example/large", headers=tagged, body=50_000),
        entry("https://a.example/small", headers=tagged, body=10, header=20),
        entry("http://b.example/clear", headers=tagged, version="HTTP/1.1", connection="18"),
        entry("https://a.example/absent", headers={"ETag": '"1"'}, body=50_000, status=404),
    )
    before = [object_.response_bytes for object_ in cold.objects]
    after = [object_.response_bytes for object_ in warm_recipe(cold).objects]
    assert after == [NOT_MODIFIED_BYTES, NOT_MODIFIED_BYTES, before[2], NOT_MODIFIED_BYTES, before[4]]


def test_a_response_that_is_fresh_until_the_second_visit_is_stale_at_it(har: Path) -> None:
    cold = read_one(har).recipe
    for fresh_s, left in ((REVISIT_S, 4), (REVISIT_S + 1, 1)):
        objects = tuple(dataclasses.replace(object_, fresh_s=fresh_s) for object_ in cold.objects)
        assert len(warm_recipe(dataclasses.replace(cold, objects=objects)).requested) == left


def test_the_document_is_requested_again_even_if_it_is_fresh(har: Path, tmp_path: Path) -> None:
    fresh = {
        **DOCUMENT["response"],
        "headers": [{"name": "Cache-Control", "value": f"max-age={REVISIT_S + 1}"}],
    }
    path = tmp_path / "fresh.har"
    log = {"creator": {"name": "x", "version": "1"}, "entries": [{**DOCUMENT, "response": fresh}]}
    path.write_text(json.dumps({"log": log}))
    assert len(warm_recipe(read_one(path).recipe).requested) == 1
