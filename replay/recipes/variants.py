"""Recipes of the same page over another version of HTTP, and on a second visit with a warm cache."""

import dataclasses

from replay.errors import RecipeError
from replay.recipes.page_recipe import Object, Recipe

HTTP = (RECORDED_HTTP, HTTP1, HTTP2) = ("recorded", "h1", "h2")
"""Values of the column `http`: each host over the version that was recorded; all over HTTP/1.1, up to six
connections each; or all over HTTP/2, one connection each, but for hosts without TLS, to which browsers speak
HTTP/1.1."""

REVISIT_S = 60
"""Time between the visits. Our choice, like the repeat view of page tests."""

NOT_MODIFIED_BYTES = 386
"""Size of a 304 response with framing: the median of 125 over HTTP/1.1 in recordings of 2012 to 2018 (deciles
214 and 563 bytes). Over HTTP/2 it is smaller; either fits into one segment."""


def replace_http(recipe: Recipe, http: str) -> Recipe:
    """Return the page over one of HTTP.

    Sizes stay, although HTTP/2 compresses header fields. Hosts that shared a connection stay one host: over
    HTTP/1.1 a browser would open up to six to each.
    """
    if http == RECORDED_HTTP:
        return recipe
    origins = (
        dataclasses.replace(origin, h2=http == HTTP2 and origin.tls_flight_bytes > 0, is_http3=False)
        for origin in recipe.origins
    )
    return dataclasses.replace(recipe, origins=tuple(origins))


def warm_recipe(recipe: Recipe) -> Recipe:
    """Return the page with the responses that are still fresh in the browser's cache.

    A cached response is there when the browser would ask for it, after all that it waits for. The main
    document is always requested, as on a reload. Stale responses with a validator are answered by 304, as if
    nothing changes within a minute; all others come whole. TLS is as on the first visit. RecipeError if no
    header was recorded.
    """
    if not has_freshness(recipe):
        raise RecipeError(
            f"{recipe.page}: a warm cache needs the caching headers of the responses, of which none is "
            "known; leave out --cache warm"
        )
    objects = (
        dataclasses.replace(object_, response_bytes=revisit_bytes(object_)) for object_ in recipe.objects
    )
    return dataclasses.replace(recipe, objects=tuple(objects))


def has_freshness(recipe: Recipe) -> bool:
    return any(object_.fresh_s is not None for object_ in recipe.objects)


def revisit_bytes(object_: Object) -> int:
    """Return the size on the second visit, inside TLS; 0 if fresh."""
    if not object_.is_document and object_.fresh_s is not None and object_.fresh_s > REVISIT_S:
        return 0
    return (
        min(object_.response_bytes, NOT_MODIFIED_BYTES)
        if object_.can_be_confirmed
        else object_.response_bytes
    )
