"""Tree of a page as it is played: the recorded tree, changed where a parent cannot ask for its child."""

import dataclasses

from localweb.modes import SUFFIX, Mode
from localweb.recipes import Page
from localweb.serving.handler import ServedOrigin

ASKING = frozenset({"document", "script", "style"})

ASKED_BY_STYLE = frozenset({"style", "image", "font"})

EMPTY = frozenset({204, 304})
"""Statuses without content; a cold load cannot see 304, which is played as an empty 200."""

EXTENSIONS = {
    "document": "html",
    "style": "css",
    "script": "js",
    "font": "woff2",
    "image": "png",
    "fetch": "json",
}


@dataclasses.dataclass(kw_only=True, slots=True)
class Tree:
    """A page's objects, by index, as they are played."""

    page: Page
    origins: list[ServedOrigin]
    paths: list[str]
    children: list[list[int]]
    targets: dict[int, int]
    askers: list[int]
    """Object that asks for each object; the target of a redirect is asked for by the redirect."""

    @property
    def moved(self) -> int:
        things = self.page.objects
        below = range(self.page.main + 1, len(things))
        return sum(self.askers[index] != things[index].parent for index in below)

    def url(self, index: int, *, seen_from: str | None) -> str:
        """Return the URL of an object; without its scheme if that is `seen_from`, the naming object's."""
        origin = self.origins[index]
        scheme = "" if origin.scheme == seen_from else f"{origin.scheme}:"
        return f"{scheme}//{origin.host}{self.paths[index]}"

    def document_of(self, index: int) -> int:
        while index > self.page.main and (
            self.page.objects[index].kind != "document" or index in self.targets
        ):
            index = self.askers[index]
        return max(index, self.page.main)

    def can_ask(self, asker: int, index: int) -> bool:
        thing = self.page.objects[asker]
        if asker == self.page.main:
            return True
        if thing.kind not in ASKING or thing.is_redirect or thing.status >= 400 or thing.status in EMPTY:
            return False
        return thing.kind != "style" or self.page.objects[index].kind in ASKED_BY_STYLE

    def nearest_asker(self, index: int, start: int) -> int:
        """Return `start` or its nearest ancestor that can ask for the object."""
        asker = start
        while asker > self.page.main and not self.can_ask(asker, index):
            asker = self.askers[asker]
        return max(asker, self.page.main)


def grow(page: Page, mode: Mode) -> Tree:
    count = len(page.objects)
    tree = Tree(
        page=page,
        origins=[],
        paths=[path(page, index) for index in range(count)],
        children=[[] for _ in range(count)],
        targets={index: index + 1 for index in range(page.main)},
        askers=[0] * count,
    )
    for index, thing in enumerate(page.objects):
        if index > page.main:
            join(tree, index)
        elif index:
            tree.askers[index] = index - 1
        tree.origins.append(ServedOrigin(scheme(tree, index, mode), thing.host + SUFFIX))
    return tree


def join(tree: Tree, index: int) -> None:
    thing = tree.page.objects[index]
    recorded = thing.parent if thing.parent is not None else tree.page.main
    redirects = tree.page.objects[recorded].is_redirect
    if thing.found_by == "redirect" and redirects and recorded not in tree.targets:
        tree.targets[recorded] = index
        tree.askers[index] = recorded
        return
    asker = tree.nearest_asker(index, recorded)
    tree.askers[index] = asker
    tree.children[asker].append(index)


def scheme(tree: Tree, index: int, mode: Mode) -> str:
    if mode is not Mode.RECORDED:
        return "http" if mode is Mode.H1 else "https"
    if index > tree.page.main:
        around = tree.document_of(tree.askers[index])
        # Chromium blocks mixed content, or turns it into https by itself.
        if tree.origins[around].scheme == "https":
            return "https"
    return tree.page.objects[index].scheme


def path(page: Page, index: int) -> str:
    """Return a path that no other object of any page has, so that no cache holds it."""
    if index == 0:
        return "/"
    return f"/{page.number}/{index}.{EXTENSIONS.get(page.objects[index].kind, 'bin')}"
