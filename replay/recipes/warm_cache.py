"""Recipes of a second visit, with a warm cache."""

from __future__ import annotations

import dataclasses

from replay.errors import RecipeError
from replay.recipes.page_recipe import Object, Recipe

REVISIT_S = 60
"""Time between the visits. Our choice, like the repeat view of page tests."""

NOT_MODIFIED_BYTES = 386
"""Size of a 304 response with framing: the median of 125 over HTTP/1.1 in recordings of 2012 to 2018 (deciles 214 and
563 bytes). Over HTTP/2 it is smaller; either fits into one segment."""


def warm_recipe(recipe: Recipe) -> Recipe:
    """The page without responses that are still fresh; children of an absent response move to its parent.

    The main document is always requested, as on a reload. Stale responses with a validator are answered by 304, as if
    nothing changes within a minute; all others, and those of unknown freshness, come whole. TLS is as on the first
    visit. Raises RecipeError if no header was recorded.
    """
    if all(one.fresh_s is None for one in recipe.objects):
        raise RecipeError(
            f"{recipe.page}: a warm cache needs the caching headers of the responses, which releases hold "
            "from schema version 3 on; replay a newer release, a HAR or a CDP log, or leave out --cache warm"
        )
    kept = [
        index
        for index, one in enumerate(recipe.objects)
        if one.is_document or one.fresh_s is None or one.fresh_s <= REVISIT_S
    ]
    places = {index: place for place, index in enumerate(kept)}

    def found_by(index: int) -> tuple[int, int | None, int]:
        """Parent, place and delay; what a cached object leads to is asked for when the object itself would be."""
        one = recipe.objects[index]
        delay_us = one.browser_delay_us
        while one.parent >= 0 and one.parent not in places:
            one = recipe.objects[one.parent]
            delay_us += one.browser_delay_us
        return places.get(one.parent, -1), one.place, delay_us

    objects = []
    for index in kept:
        parent, place, delay_us = found_by(index)
        objects.append(
            dataclasses.replace(
                recipe.objects[index],
                parent=parent,
                place=place,
                waits_for=places.get(recipe.objects[index].waits_for, -1),
                browser_delay_us=delay_us,
                response_bytes=revisit_bytes(recipe.objects[index]),
            )
        )
    return dataclasses.replace(recipe, objects=tuple(objects))


def revisit_bytes(one: Object) -> int:
    """Size of a response on the second visit, inside TLS."""
    return min(one.response_bytes, NOT_MODIFIED_BYTES) if one.can_be_confirmed else one.response_bytes
