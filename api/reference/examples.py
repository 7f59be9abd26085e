"""Example calls of the API's endpoints: their addresses, code that makes the call, and their answers, shortened."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

MOST_ITEMS = 2
"""Items shown of each array."""

MOST_LINES = 4
"""Lines shown of a CSV."""

SMALL = {"limit": "2", "points": "4", "measure": "responses"}
"""Values of optional parameters that keep an example small, by name."""

SUFFIXES = ("_at_least", "_at_most", "_is_null")
"""Endings of parameters that filter by a column."""


def address(path: str, operation: Mapping[str, Any], facts: Mapping[str, str]) -> str | None:
    """The address of an example call; None if a parameter that it needs is neither in `facts` nor one of few values."""
    inside: dict[str, str] = {}
    query: dict[str, str] = {}
    for parameter in operation.get("parameters", []):
        name, place = parameter["name"], parameter["in"]
        choices = parameter["schema"].get("enum") or [None]
        value = facts.get(name) if parameter.get("required") or name in VARIANT else SMALL.get(name)
        if value is None and parameter.get("required"):
            value = choices[0]
        if value is None:
            if parameter.get("required"):
                return None
            continue
        (inside if place == "path" else query)[name] = str(value)
    called = path.format(**{name: quote(value) for name, value in inside.items()})
    return f"{called}?{urlencode(query)}" if query else called


VARIANT = ("device", "vantage", "arm", "kind")
"""Parameters that choose a series: their defaults may have no release."""


def code(url: str) -> Iterator[tuple[str, str]]:
    """Language and code of a call of `url`, whose answer is JSON."""
    said = json.dumps(url)
    yield "curl", f"curl -s {quoted(url)}"
    yield "Python", f"import json, urllib.request\n\nanswer = json.load(urllib.request.urlopen({said}))"
    yield "R", f"answer <- jsonlite::fromJSON({said})"
    yield "JavaScript", f"const answer = await (await fetch({said})).json();"


def quoted(text: str) -> str:
    """Text as one word of a shell.

    >>> quoted("/v1/a?b=1&c='x'")
    "'/v1/a?b=1&c='\\\\''x'\\\\'''"
    """
    return "'" + text.replace("'", "'\\''") + "'"


def shown(body: bytes, media_type: str) -> str:
    """An answer as the page shows it: JSON with the first items of each array, or the first lines of a CSV."""
    text = body.decode("utf-8", "replace")
    if media_type.endswith("json"):
        return json.dumps(shortened(json.loads(text)), indent=2, ensure_ascii=False)
    lines = text.splitlines()
    return "\n".join([*lines[:MOST_LINES], *(["…"] if len(lines) > MOST_LINES else [])])


def shortened(value: Any) -> Any:  # noqa: ANN401  # JSON
    """JSON with at most MOST_ITEMS items of each array, followed by how many more there are.

    >>> shortened({"sizes": [1, 2, 3, 4]})
    {'sizes': [1, 2, '… and 2 more']}
    """
    if isinstance(value, dict):
        return {name: shortened(one) for name, one in value.items()}
    if isinstance(value, list):
        more = len(value) - MOST_ITEMS
        kept = [shortened(one) for one in value[:MOST_ITEMS]]
        return [*kept, f"… and {more} more"] if more > 0 else kept
    return value


def filtered(names: list[str]) -> list[str]:
    """Columns that parameters filter by in more ways than one: those with a parameter that ends in one of SUFFIXES.

    >>> filtered(["fields", "limit", "rank", "rank_at_least", "host_is_null"])
    ['rank', 'host']
    """
    return list(
        dict.fromkeys(name.removesuffix(end) for name in names for end in SUFFIXES if name.endswith(end))
    )
