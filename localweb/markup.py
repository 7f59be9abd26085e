"""Documents, scripts and style sheets that make a browser fetch the objects they name."""

from collections.abc import Sequence

from localweb.object_tree import Tree

FETCH = "fetch(u).then(r=>r.arrayBuffer()).catch(e=>0)"
"""Reads the body, because Chromium aborts a fetch whose body is not read."""

COMMENTS = {"document": (b"<!--", b"-->"), "script": (b"/*", b"*/"), "style": (b"/*", b"*/")}

FIRST_FONT_CHARACTER = 0x100


def render(tree: Tree, index: int) -> bytes:
    children = sorted(tree.children[index])
    if not children and index != tree.page.main:
        return b""
    form = {"document": document, "script": script, "style": style}[tree.page.objects[index].kind]
    return form(tree, index, children).encode()


def document(tree: Tree, index: int, children: Sequence[int]) -> str:
    """Return HTML. Scripts are asynchronous and fetches come first, so that no sibling waits for another."""
    seen_from = tree.origins[index].scheme
    tags, fetched = [], []
    for child in children:
        url = tree.url(child, seen_from=seen_from)
        kind = tree.page.objects[child].kind
        if kind == "script":
            tags.append(f'<script src="{url}" async></script>')
        elif kind == "style":
            marks = "".join(f"<i class=c{sheet}>x</i>" for sheet in sheets_to_show(tree, child))
            tags.append(f'<link rel=stylesheet href="{url}">{marks}')
        elif kind == "image":
            tags.append(f'<img src="{url}">')
        elif kind == "document":
            tags.append(f'<iframe src="{url}"></iframe>')
        else:
            fetched.append(url)
    # An empty icon keeps the browser from asking for a favicon.
    icon = "<link rel=icon href=data:,>" if index == tree.page.main else ""
    fetches = f"<script>{each(fetched, FETCH)}</script>" if fetched else ""
    return "\n".join([f"<!doctype html>{icon}<body>{fetches}", *tags])


def script(tree: Tree, index: int, children: Sequence[int]) -> str:
    seen_from = tree.origins[tree.document_of(index)].scheme
    forms = {
        "script": "a('script',{src:u})",
        "style": "a('link',{rel:'stylesheet',href:u})",
        "image": "a('img',{src:u})",
        "document": "a('iframe',{src:u})",
    }
    urls: dict[str, list[str]] = {}
    marks: list[int] = []
    for child in children:
        kind = tree.page.objects[child].kind
        urls.setdefault(forms.get(kind, FETCH), []).append(tree.url(child, seen_from=seen_from))
        if kind == "style":
            marks += sheets_to_show(tree, child)
    shown = "".join(f"a('i',{{className:'c{sheet}',textContent:'x'}});" for sheet in marks)
    calls = "".join(each(these, form) for form, these in urls.items())
    start = "(d=>{let a=(t,o)=>d.body.append(Object.assign(d.createElement(t),o));"
    return f"{start}{shown}{calls}}})(document);"


def each(urls: Sequence[str], form: str) -> str:
    listed = ",".join(f'"{url}"' for url in urls)
    return f"[{listed}].map(u=>{form});"


def style(tree: Tree, index: int, children: Sequence[int]) -> str:
    """Return CSS whose images and fonts load as soon as the document has an element of class c<index>.

    Each font has a character of its own: the second in a list of families would wait for the first to fail.
    """
    seen_from = tree.origins[index].scheme
    kinds = {child: tree.page.objects[child].kind for child in children}
    urls = {child: tree.url(child, seen_from=seen_from) for child in children}
    rules = [f'@import "{urls[child]}";' for child in children if kinds[child] == "style"]
    images = ",".join(f"url({urls[child]})" for child in children if kinds[child] == "image")
    if images:
        rules.append(f".c{index}{{background:{images}}}")
    fonts = [child for child in children if kinds[child] == "font"]
    for number, child in enumerate(fonts, start=FIRST_FONT_CHARACTER):
        rules.append(f"@font-face{{font-family:f{index};src:url({urls[child]});unicode-range:U+{number:x}}}")
    if fonts:
        text = "".join(chr(FIRST_FONT_CHARACTER + place) for place in range(len(fonts)))
        rules.append(f'.c{index}::before{{content:"{text}";font-family:f{index}}}')
    return "".join(rules)


def sheets_to_show(tree: Tree, index: int) -> list[int]:
    """Return what of the sheet and its imports is fetched only when an element uses it."""
    index = end_of_redirects(tree, index)
    below = tree.children[index]
    kinds = [tree.page.objects[child].kind for child in below]
    imported = [
        sheet
        for child, kind in zip(below, kinds, strict=True)
        if kind == "style"
        for sheet in sheets_to_show(tree, child)
    ]
    return ([index] if {"image", "font"} & set(kinds) else []) + imported


def end_of_redirects(tree: Tree, index: int) -> int:
    while index in tree.targets:
        index = tree.targets[index]
    return index
