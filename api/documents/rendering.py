"""Markdown as HTML: headings with anchors, links between documents, and tables that scroll by themselves."""

import dataclasses
import functools
import itertools
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape
from mdit_py_plugins.anchors import anchors_plugin

from api.documents.shelved import address, title
from releases.formatting import apart

ANCHORED = 4

TITLE = 3
"""Tokens of the heading that each document begins with."""

WIDE = '<div class="wide" tabindex="0" role="group" aria-label="Table">'
DRAWING = '<span class="wide drawing" tabindex="0" role="group" aria-label="Figure">'
"""What a drawing scrolls in, whose letters would be too small on a phone."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Rendered:
    """A document as HTML."""

    title: str
    sections: tuple[tuple[str, str], ...]
    """Anchor and text of each heading of the second level."""
    html: Markup


@functools.cache
def render(text: str, *, source: str, base: str) -> Rendered:
    """A document in Markdown that begins with its title, from `source` of docs; documents are below
    `base`.

    HTML is shown as it is written, except comments, which are left out.
    """
    markdown = _markdown()
    markdown.add_render_rule("table_open", lambda *_: WIDE + "<table>")
    markdown.add_render_rule("table_close", lambda *_: "</table></div>\n")
    markdown.add_render_rule("image", _image)
    tokens = markdown.parse(text)
    for token, following in itertools.pairwise([*_every(tokens), Token("end", "", 0)]):
        if token.type == "link_open" and following.content.endswith(".md"):
            following.content = _named(following.content, str(token.attrs["href"]), source=source)
        _adapt(token, source=source, base=base)
    _label_cells(tokens)
    first, body = tokens[:TITLE], tokens[TITLE:]
    html = Markup(markdown.renderer.render(body, markdown.options, {}))  # noqa: S704  # the renderer escapes
    return Rendered(
        title=_text(first[1]),
        sections=tuple(
            (str(token.attrs["id"]), _text(following))
            for token, following in itertools.pairwise(body)
            if token.type == "heading_open" and token.tag == "h2"
        ),
        html=html,
    )


def read_sections(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield heading, anchor and words of each section of a document in Markdown."""
    tokens = _markdown().parse(text)
    heading, anchor = "", ""
    words: list[str] = []
    for token, following in itertools.pairwise(tokens):
        if token.type == "heading_open" and "id" in token.attrs:
            if heading:
                yield heading, anchor, " ".join(words)
            heading, anchor, words = _text(following), str(token.attrs["id"]), []
        elif following.type in ("inline", "code_block", "fence"):
            words.append(_text(following) if following.type == "inline" else following.content)
    yield heading, anchor, " ".join(words)


def _markdown() -> MarkdownIt:
    # Without HTML, a comment would be text of a paragraph.
    return MarkdownIt("commonmark", {"html": True}).enable("table").use(anchors_plugin, max_level=ANCHORED)


def _image(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType
) -> str:
    html = renderer.image(tokens, place, options, env)
    is_drawing = str(tokens[place].attrs["src"]).endswith(".svg")
    return f"{DRAWING}{html}</span>" if is_drawing else html


def _named(file: str, target: str, *, source: str) -> str:
    page = address(target, source=source, base="")
    return file if page is None else title(page.strip("/").partition("#")[0]).partition(":")[0]


def _every(tokens: Sequence[Token]) -> list[Token]:
    return [each for token in tokens for each in (token, *(token.children or ()))]


def _adapt(token: Token, *, source: str, base: str) -> None:
    """Lead links to pages, write numbers as on every page, and show HTML as text."""
    if token.type == "link_open":
        target = address(str(token.attrs["href"]), source=source, base=base)
        # What is no page keeps its words: an anchor without an address is no link.
        token.attrs = {} if target is None else {"href": target}
    elif token.type == "image":
        token.attrs["src"] = address(str(token.attrs["src"]), source=source, base=base) or ""
        token.attrs["loading"] = "lazy"
    elif (
        token.attrs.pop("style", None) == "text-align:right"
    ):  # the pages' policy allows no styles in attributes
        token.attrs["class"] = "n"
    elif token.type == "text":
        token.content = apart(token.content)
    elif token.type in ("html_block", "html_inline"):
        token.content = "" if token.content.lstrip().startswith("<!--") else str(escape(token.content))


def _label_cells(tokens: Sequence[Token]) -> None:
    """Give each cell its column's heading: on a phone, rows are cards."""
    headings: list[str] = []
    column = 0
    for token, following in itertools.pairwise(tokens):
        if token.type == "table_open":
            headings = []
        elif token.type == "tr_open":
            column = 0
        elif token.type == "th_open":
            headings.append(_text(following))
            if not headings[-1]:  # what names nothing is no heading
                token.tag = "td"
        elif following.type == "th_close" and not headings[-1]:
            following.tag = "td"
        elif token.type == "td_open":
            token.attrs["data-label"] = headings[column]
            column += 1


def _text(inline: Token) -> str:
    plain = {"text", "code_inline", "softbreak"}
    return "".join(child.content or " " for child in inline.children or () if child.type in plain)
