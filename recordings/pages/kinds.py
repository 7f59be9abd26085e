"""The type of a recorded request, and the priority that its type alone decides."""

from recordings.order import MEDIA_TYPES
from recordings.pages.request import PageRequest
from schema.vocabulary import RESOURCE_TYPES_BY_DESTINATION


def kind_of(one: PageRequest) -> str:
    """The resource type: by Sec-Fetch-Dest, or without it by the media type."""
    if one.destination is not None:
        return RESOURCE_TYPES_BY_DESTINATION.get(one.destination, "other")
    if one.is_main_document:
        return "document"
    kind = next((kind for word, kind in MEDIA_TYPES if word in (one.mime_type or "")), "other")
    return "iframe" if kind == "document" else kind


PRIORITIES: dict[str, tuple[int, bool]] = {
    "document": (0, True),
    "iframe": (0, True),
    "style": (0, False),
    "font": (0, False),
    "fetch": (1, True),
    "media": (3, True),
}
"""Urgency and whether incremental (RFC 9218) that Chromium gives a type, where nothing but the type decides.

Those of scripts and images hang on attributes and places in the page, which were not recorded.
"""


def priority_of(one: PageRequest) -> tuple[int | None, bool | None]:
    """Urgency and whether incremental; None over HTTP/1.1, and where the type alone does not decide."""
    known = PRIORITIES.get(kind_of(one)) if one.is_multiplexed and one.crossed_network else None
    return known or (None, None)
