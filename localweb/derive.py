"""`python -m localweb.derive DATA_DIR`: write the bundled recipes from a folder of recordings.

DATA_DIR holds har/CORPUS/*.har.gz and cdp/CORPUS/*.json.gz, named by their path in the corpus' repository
with `__` for `/`, and best30.json, which lists the recordings to take.
"""

import collections
import json
import sys
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from localweb import recipes
from localweb.recipes import Page, PageRecipeError, RecipeSource, WebObject
from recordings.exchange import RecordedExchange
from recordings.page import PageLoad, find_parents, resource_types
from recordings.reading import CDP, HAR, read_file
from schema.vocabulary import RESOURCE_TYPES

KINDS_BY_TYPE = {"iframe": "document", "preflight": "fetch", "worker": "script"} | dict.fromkeys(
    set(RESOURCE_TYPES) - set(recipes.KINDS) - {"iframe", "preflight", "worker"}, "other"
)

OUTPUT = Path(recipes.__file__).with_name("recipes.json")


class Corpus(NamedTuple):
    """A public collection of recordings."""

    repository: str
    commit: str
    licence: str


CORPORA = {
    "http_samples": Corpus(
        "http2/http_samples", "073b1c70852e7d75fedafbc610106fd05f0b606f", "IETF Contribution (RFC 5378)"
    ),
    "pagexray": Corpus("sitespeedio/pagexray", "c9f22741d20bdb171b695de66fe2614d43fdb961", "MIT"),
    "coach-core": Corpus("sitespeedio/coach-core", "a70c06aec83b6d45d14d594db4f2f4254d4f52ce", "MIT"),
    "compare": Corpus("sitespeedio/compare", "3e782ee1c515aab131bb555026828c8450839cba", "MIT"),
    "chrome-har-perflogs": Corpus(
        "sitespeedio/chrome-har", "bb599c6d78715ac752bee17dc642173b38caf1d1", "MIT"
    ),
}


def source(path: Path, *, tool: str, date: str) -> RecipeSource:
    return RecipeSource(
        **CORPORA[path.parent.name]._asdict(),
        file=path.name.removesuffix(".gz").replace("__", "/"),
        tool=tool,
        date=date,
    )


def derive(path: Path, *, number: int) -> Page:
    file = read_file(path, CDP if path.parent.parent.name == "cdp" else HAR)
    return page(file.load, number=number, source=source(path, tool=file.tool, date=file.day))


def main(data_dir: Path) -> None:
    names = json.loads((data_dir / "best30.json").read_text(encoding="utf-8"))
    pages = [derive(next(data_dir.glob(f"*/*/{name}")), number=n) for n, name in enumerate(names, start=1)]
    text = recipes.dump(pages)
    recipes.load(text)
    OUTPUT.write_text(text, encoding="ascii")
    print(f"{OUTPUT}: {len(pages)} pages, {sum(len(page.objects) for page in pages)} objects")


def page(load: PageLoad, *, number: int, source: RecipeSource) -> Page:
    """Return the recipe of a page load; RecipeError if nothing of it crossed the network."""
    kept = load.exchanges
    if not kept:
        raise PageRecipeError(f"{source.file}: nothing in it that crossed the network")
    repairs = collections.Counter(load.left_out)
    repairs.update(url_asked_again=len(kept) - len({exchange.url for exchange in kept}))
    repairs.update(size_unknown=sum(body_bytes(exchange) is None for exchange in kept))
    repairs.update(method_played_as_get=sum(exchange.method != "GET" for exchange in kept))
    parents = find_parents(kept, load.main)
    kinds = [KINDS_BY_TYPE.get(kind, kind) for kind in resource_types(load)]
    objects = tuple(
        web_object(exchange, kind, parent, how)
        for exchange, kind, (parent, how) in zip(kept, kinds, parents, strict=True)
    )
    return Page(
        number=number, objects=objects, source=source, repairs={k: v for k, v in sorted(repairs.items()) if v}
    )


def web_object(exchange: RecordedExchange, kind: str, parent: int | None, how: str) -> WebObject:
    return WebObject(
        scheme=urlsplit(exchange.url).scheme,
        host=exchange.host,
        kind=kind,
        mime_type=exchange.mime_type,
        status=exchange.status,
        body_bytes=body_bytes(exchange),
        protocol=exchange.protocol or "http/1.1",
        method=exchange.method,
        parent=parent,
        found_by=how,
    )


def body_bytes(exchange: RecordedExchange) -> int | None:
    """Return the size of the body, or of header and body where they cannot be told apart."""
    return exchange.sizes.wire_bytes if exchange.sizes.body_bytes is None else exchange.sizes.body_bytes


if __name__ == "__main__":
    main(Path(sys.argv[1]))
