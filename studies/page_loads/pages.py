"""The pages that are loaded: the bundled ones, and a sample of the recorded
ones as recipes of the local web."""

import itertools
from collections.abc import Mapping

from localweb import recipes
from localweb.recipes import KINDS, Page, RecipeSource, WebObject
from releases.catalogue import Release
from replay.recipes.page_recipe import Object, Recipe, read_recipes
from replay.recipes.release_rows import Row, by_visit, rows

RECORDED = (
    *(27, 80, 250, 55, 89, 259, 244, 265, 281, 398, 96, 83, 338, 104, 67),
    *(95, 146, 349, 373, 52, 243, 523, 148, 394, 196, 502, 62, 356, 540, 327),
)
"""Numbers of the recorded pages that are loaded: thirty of those of at most 3 MB, evenly spread by size."""
FIRST_NUMBER = 1_000
"""Number of the first recorded page; those of the bundled ones are smaller."""
KIND = {"iframe": "document"}
"""Kinds of the local web by resource type, where they differ; types that it lacks are `other`."""


def bundled() -> list[Page]:
    return recipes.load_bundled()


def read_recorded(release: Release) -> list[Page]:
    """Return the sample of the recorded release's pages as pages of the local web."""
    responses = by_visit(rows(release, "response"))
    source = RecipeSource(
        repository=release.manifest.list_id,
        commit=release.manifest.commit,
        licence=release.manifest.licence,
        file=str(release.crawl),
        tool=release.manifest.browser,
        date=release.crawl.month,
    )
    pages = {}
    for recipe in read_recipes(release):
        if recipe.visit_id in RECORDED:
            pages[recipe.visit_id] = page_of(
                recipe, {row["id"]: row for row in responses[recipe.visit_id]}, source
            )
    return [page for number in RECORDED if (page := pages.get(number))]


def page_of(recipe: Recipe, responses: Mapping[int, Row], source: RecipeSource) -> Page | None:
    """Return a recipe of the replay as a page of the local web.

    None if more than redirects comes before its document.
    """
    things = tuple(
        thing_of(index, object_, recipe, responses[object_.response_id])
        for index, object_ in enumerate(recipe.objects)
    )
    before = list(itertools.takewhile(lambda thing: thing.is_redirect, things))
    if len(before) == len(things) or not recipe.objects[len(before)].is_document:
        return None
    return Page(number=FIRST_NUMBER + recipe.visit_id, objects=things, source=source, repairs={})


def thing_of(index: int, object_: Object, recipe: Recipe, row: Row) -> WebObject:
    """Return an object of a recipe as the local web serves it, over HTTP/2."""
    kind = KIND.get(row["resource_type"], row["resource_type"])
    body_bytes = row["wire_bytes"] if row["body_bytes"] is None else row["body_bytes"]
    parent = min(max(object_.parent, 0), index - 1) if index else None
    asked_by_redirect = parent is not None and recipe.objects[parent].response_id == row["redirected_from_id"]
    return WebObject(
        scheme="https",
        host=row["host"],
        kind="document" if object_.is_document else kind if kind in KINDS else "other",
        mime_type=row["mime_type"] or "",
        status=row["status"] or 200,
        body_bytes=body_bytes,
        protocol="h2",
        method="GET",
        parent=parent,
        found_by="start" if parent is None else "redirect" if asked_by_redirect else "initiator",
    )
