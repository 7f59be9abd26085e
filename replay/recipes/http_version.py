"""Recipes of the same page over HTTP/1.1 alone, or over HTTP/2 wherever a browser would speak it."""

import dataclasses

from replay.recipes.page_recipe import Recipe

HTTP = (RECORDED_HTTP, HTTP1, HTTP2) = ("recorded", "h1", "h2")
"""Values of the column `http`: each host over the version that was recorded; all over HTTP/1.1, up to six
connections each; or all over HTTP/2, one connection each, but for hosts without TLS, to which browsers speak
HTTP/1.1."""


def replace_http(recipe: Recipe, http: str) -> Recipe:
    """Return the page over one of HTTP.

    Sizes stay as recorded, although HTTP/2 compresses header fields. Hosts that shared a connection over
    HTTP/2 stay one host: over HTTP/1.1 a browser would open up to six connections to each of them.
    """
    if http == RECORDED_HTTP:
        return recipe
    origins = (
        dataclasses.replace(origin, h2=http == HTTP2 and origin.tls_flight_bytes > 0, is_http3=False)
        for origin in recipe.origins
    )
    return dataclasses.replace(recipe, origins=tuple(origins))
