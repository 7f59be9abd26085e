"""Example calls of the API's endpoints: their addresses, code that makes the call,
and their answers, shortened."""

import http
import json
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from api.reference.asking import Asked

MOST_ITEMS = 2
"""Items shown of each array."""

MOST_LINES = 12
"""Lines shown of a text that is not JSON."""

MOST_JSON_LINES = 150
"""Lines shown of JSON whose arrays were shortened."""

LONGEST_LINE = 200
"""Characters shown of a line."""

FIELDS = ("content-type", "content-length", "content-disposition", "location")
"""Header fields shown of an answer without text."""

SMALL = {"limit": "2", "points": "4", "measure": "responses"}
"""Values of optional parameters that keep an example small, by name."""

SUFFIXES = ("_at_least", "_at_most", "_is_null")
"""Endings of parameters that filter by a column."""


def address(path: str, operation: Mapping[str, Any], facts: Mapping[str, str]) -> str | None:
    """The address of an example call.

    None if a parameter that it needs is neither in `facts` nor one of few values.
    """
    inside: dict[str, str] = {}
    query: dict[str, str] = {}
    for parameter in operation.get("parameters", []):
        name, place = parameter["name"], parameter["in"]
        choices = parameter["schema"].get("enum") or [None]
        value = facts.get(name) if parameter.get("required") or name in CHOSEN else SMALL.get(name)
        among = [one["enum"] for one in parameter["schema"].get("anyOf", []) if "enum" in one]
        if among and value not in among[0]:
            value = None  # another endpoint's parameter of this name
        if value is None and parameter.get("required"):
            value = choices[0]
        if value is None:
            if parameter.get("required"):
                return None
            continue
        (inside if place == "path" else query)[name] = str(value)
    called = path.format(**{name: quote(value) for name, value in inside.items()})
    return f"{called}?{urlencode(query)}" if query else called


CHOSEN = ("device", "vantage", "arm", "kind", "figure")
"""Optional parameters with a value in examples: the defaults of those that
choose a series may have no release."""


def code(url: str, answer: Asked) -> Iterator[tuple[str, str]]:
    """Language and code of a call of `url`, by what its answer is."""
    address, word = json.dumps(url), quoted(url)
    if is_json(answer.media_type):
        yield "curl", f"curl -s {word}"
        yield (
            "Python",
            f"import json, urllib.request\n\nanswer = json.load(urllib.request.urlopen({address}))",
        )
        yield "R", f"answer <- jsonlite::fromJSON({address})"
        yield "JavaScript", f"const answer = await (await fetch({address})).json();"
    elif text_of(answer) is not None:
        read = "read.csv" if answer.media_type == "text/csv" else "readLines"
        yield "curl", f"curl -sL {word}"
        yield "Python", f"import urllib.request\n\nanswer = urllib.request.urlopen({address}).read().decode()"
        yield "R", f"answer <- {read}({address})"
        yield "JavaScript", f"const answer = await (await fetch({address})).text();"
    else:
        name = PurePosixPath(urlsplit(url).path).name
        file = json.dumps(name)
        yield "curl", f"curl -s -o {quoted(name)} {word}"
        yield "Python", f"import urllib.request\n\nurllib.request.urlretrieve({address}, {file})"
        yield "R", f'download.file({address}, {file}, mode = "wb")'
        yield "JavaScript", f"const answer = await (await fetch({address})).arrayBuffer();"


def quoted(text: str) -> str:
    """Text as one word of a shell.

    >>> quoted("/v1/a?b=1&c='x'")
    "'/v1/a?b=1&c='\\\\''x'\\\\'''"
    """
    return "'" + text.replace("'", "'\\''") + "'"


def is_json(media_type: str) -> bool:
    """True for JSON and for media types that are JSON (RFC 6839 §3.1); newline-delimited JSON is not."""
    return media_type == "application/json" or media_type.endswith("+json")


def text_of(answer: Asked) -> str | None:
    """The body as text; None if it is no text."""
    try:
        return answer.body.decode()
    except UnicodeDecodeError:
        return None


def shown(answer: Asked) -> str:
    """An answer as the page shows it: JSON with the first items of each array, or the first lines of a text.

    Of an answer without text it is the header section.
    """
    text = text_of(answer)
    if not text:
        status = http.HTTPStatus(answer.status)
        fields = [f"{name}: {answer.headers[name]}" for name in FIELDS if name in answer.headers]
        return "\n".join([f"{status.value} {status.phrase}", *fields])
    if is_json(answer.media_type):
        text, most = json.dumps(shortened(json.loads(text)), indent=2, ensure_ascii=False), MOST_JSON_LINES
    else:
        most = MOST_LINES
    lines = text.splitlines()
    cut = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in lines[:most]]
    return "\n".join([*cut, *(["…"] if len(lines) > most else [])])


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
    """Columns that parameters filter by in more ways than one:
    those with a parameter that ends in one of SUFFIXES.

    >>> filtered(["fields", "limit", "rank", "rank_at_least", "host_is_null"])
    ['rank', 'host']
    """
    return list(
        dict.fromkeys(name.removesuffix(end) for name in names for end in SUFFIXES if name.endswith(end))
    )
