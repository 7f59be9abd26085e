"""The warm-cache arm: what a second visit asks the network for."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from replay.errors import RecipeError
from replay.recipes.page_recipe import payload

if TYPE_CHECKING:
    from replay.recipes.page_recipe import Object, Recipe

REVISIT_S = 60
"""From the first visit to the second, whose recipe this is. Ours: the repeat view of page tests, soon after the first."""

NOT_MODIFIED_BYTES = 386
"""Of a 304, header and framing: the median of 125 over HTTP/1.1 in recordings of 2012 to 2018, whose tenths lie at
214 and 563 bytes. Over HTTP/2 it is less; either way it is one segment."""


def warm_recipe(recipe: Recipe) -> Recipe:
    """The page without what is still fresh in the cache, each hole handing over to who asked for it.

    The main document is asked for again, as on a reload. What is stale and has a validator is answered by 304: a
    minute after the first visit it is taken not to have changed. The rest comes whole, what is not known likewise.
    TLS is as on the first visit. Raises RecipeError where no header was recorded.
    """
    if all(one.fresh_s is None for one in recipe.objects):
        raise RecipeError(
            f"{recipe.page}: a warm cache needs what the responses' headers said of their reuse, which releases hold "
            "from schema version 3 on; replay a newer release, a HAR or a CDP log, or leave out --cache warm"
        )
    kept = [
        index
        for index, one in enumerate(recipe.objects)
        if one.is_document or one.fresh_s is None or one.fresh_s <= REVISIT_S
    ]
    places = {index: place for place, index in enumerate(kept)}

    def parent_of(index: int) -> int:
        parent = recipe.objects[index].parent
        while parent >= 0 and parent not in places:
            parent = recipe.objects[parent].parent
        return places.get(parent, -1)

    objects = [
        dataclasses.replace(
            recipe.objects[index],
            parent=parent_of(index),
            response_bytes=bytes_again(recipe, recipe.objects[index]),
        )
        for index in kept
    ]
    return dataclasses.replace(recipe, objects=tuple(objects))


def bytes_again(recipe: Recipe, one: Object) -> int:
    """TCP payload of what comes where it is asked for again."""
    if not one.can_be_confirmed:
        return one.response_bytes
    tls = recipe.origins[one.origin].tls_flight_bytes > 0
    return min(one.response_bytes, payload(NOT_MODIFIED_BYTES, tls=tls))
