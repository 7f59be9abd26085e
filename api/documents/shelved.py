"""The documents of the package docs by the names of their pages,
and where a link between their files leads."""

import functools
import importlib.resources
import posixpath
from collections.abc import Iterator, Mapping
from importlib.resources.abc import Traversable
from urllib.parse import unquote, urlsplit

ELSEWHERE = {"../CHANGELOG.md": "changelog.md"}

EXAMPLE = "https://sizes.example"

EXAMPLE_RELEASE = "2026-11.desktop.local.tcp.web/v1"

FILES = ("images/", "reproduction/", "zoo/")


@functools.cache
def sources() -> Mapping[str, str]:
    """Path within docs of every document, by the name of its page;
    that of a folder's README.md is the folder's.

    >>> [sources()[name] for name in ("", "methods", "decisions", "decisions/replay/0002-replay-in-virtual-time")]
    ['README.md', 'methods.md', 'decisions/README.md', 'decisions/replay/0002-replay-in-virtual-time.md']
    """  # noqa: E501
    return {name_of(path): path for path in sorted(_paths()) if path.endswith(".md")}


def name_of(path: str) -> str:
    """The name of the page of the document at `path`.

    >>> name_of("decisions/README.md"), name_of("README.md"), name_of("methods.md")
    ('decisions', '', 'methods')
    """
    return path.removesuffix(".md").removesuffix("README").rstrip("/")


def text(name: str) -> str:
    """The Markdown of a document; KeyError if there is none of that name."""
    return _at(sources()[name]).read_text(encoding="utf-8")


def section(name: str, heading: str) -> str:
    """The section of a document below a heading of the second level, up to the next one;
    KeyError if there is none.

    >>> section("recipes", "One release, by URL").lstrip().partition("\\n")[0]
    '### The whole release, by curl'
    """
    parts = (part.partition("\n") for part in text(name).split("\n## ")[1:])
    return {first: rest for first, _, rest in parts}[heading]


def title(name: str) -> str:
    """The title of a document, which is its first line; KeyError if there is none of that name.

    >>> title("recipes"), title("decisions")
    ('Recipes: read a release with the tools you have', 'Decisions')
    """
    return text(name).partition("\n")[0].removeprefix("# ")


def addressed(text: str, base_url: str) -> str:
    """Text of a document with the address of this service, if it is known, where documents have an example.

    >>> addressed("curl https://sizes.example/v1/crawls", "http://127.0.0.1:8750")
    'curl http://127.0.0.1:8750/v1/crawls'
    """
    return text.replace(EXAMPLE, base_url or EXAMPLE)


@functools.cache
def files() -> frozenset[str]:
    return frozenset(path for path in _paths() if path.startswith(FILES))


def _paths(below: str = "") -> Iterator[str]:
    for entry in _at(below).iterdir():
        if entry.is_dir():
            yield from _paths(f"{below}{entry.name}/")
        else:
            yield below + entry.name


def content(path: str) -> bytes:
    return _at(path).read_bytes()


def _at(path: str) -> Traversable:
    return importlib.resources.files("docs").joinpath(*path.split("/"))


def address(target: str, *, source: str, base: str) -> str | None:
    """Address of what a link in the document at `source` leads to; None for a file that is no page.

    `base` is the address of the first document.

    >>> address("glossary.md#flight", source="methods.md", base="/documents")
    '/documents/glossary#flight'
    >>> address("../README.md", source="decisions/README.md", base="/documents")
    '/documents'
    >>> address("#sizes", source="methods.md", base="/documents"), address("https://a.test/", source="x.md", base="")
    ('#sizes', 'https://a.test/')
    >>> address("../schema/tables.py", source="methods.md", base="/documents")
    """  # noqa: E501
    parts = urlsplit(target)
    if parts.scheme or not parts.path:
        return target
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), unquote(parts.path)))
    path = ELSEWHERE.get(path, path)
    if path in files():
        return f"{base}/{path}"
    name = name_of(path)
    if sources().get(name) != path:
        return None
    return f"{base}/{name}".rstrip("/") + (f"#{parts.fragment}" if parts.fragment else "")
