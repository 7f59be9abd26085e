"""The warm-cache arm: what a second visit asks the network for."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from reports.replay.errors import RecipeError

if TYPE_CHECKING:
    from reports.replay.recipes import Recipe

REVISIT_S = 60
"""From the first visit to the second, whose recipe this is. Ours: the repeat view of page tests, soon after the first."""


def warmed(recipe: Recipe) -> Recipe:
    """The page without what is still fresh in the cache, each hole handing over to who asked for it.

    The main document is asked for again, as on a reload. What is stale comes whole: no recording of a first visit
    says whether it has changed, nor how large a 304 would be. TLS is as on the first visit. Raises RecipeError
    where the headers were not recorded.
    """
    if any(one.fresh_s is None for one in recipe.objects):
        raise RecipeError(
            f"{recipe.page}: a warm cache needs Cache-Control, Expires, Age, Date, Last-Modified and Vary of every "
            "response, which a release does not hold; replay a HAR or a CDP log, or leave out --cache warm"
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

    objects = [dataclasses.replace(recipe.objects[index], parent=parent_of(index)) for index in kept]
    return dataclasses.replace(recipe, objects=tuple(objects))
