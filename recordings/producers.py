"""The programs that write HAR files, and what is known of the sizes that each of them writes.

docs/recorded-files.md says in words what each counts, what is taken of it, and what stays unknown.
"""

import dataclasses
import re


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Producer:
    """A program whose sizes are read otherwise than the format says."""

    name: str
    """Regular expression that matches the creator's name and version, in lower case."""
    header_is_counted: bool = True
    """Whether `headersSize` is the size of a header."""
    body_is_counted: bool = True
    """Whether `bodySize` is the size of an encoded body."""
    body_holds_header: bool = False
    body_holds_framing: bool = False
    empty_is_cached: bool = False
    """`bodySize` of 0 beside a content means that a cache answered."""
    content_is_encoded: bool = False
    """`content.size` is the size before decompression."""
    redirect_has_target_size: bool = False
    """A redirect's size is that of the response that it led to."""
    body_is_total: bool = False
    """`bodySize` beside a `headersSize` of 0 is header and body together."""
    accumulates: bool = False
    """Sizes add up over each connection, and loads are told apart by pauses alone."""


PRODUCERS = (
    Producer(name=r"webinspector", body_holds_framing=True, empty_is_cached=True),
    Producer(name=r"chrome-har\b|chrome har capturer", body_holds_framing=True),
    Producer(name=r"playwright", body_is_total=True, body_holds_framing=True),
    Producer(
        name=r"firefox (6[2-9]|[7-9]\d|\d{3})",
        body_holds_header=True,
        empty_is_cached=True,
        redirect_has_target_size=True,
    ),
    Producer(name=r"firefox", redirect_has_target_size=True),
    Producer(name=r"webpagetest", content_is_encoded=True),
    Producer(name=r"browsertime 1\.0$|phantomjs", body_is_counted=False),
    Producer(name=r"hdrgrab", content_is_encoded=True, accumulates=True),
    Producer(name=r"mitmproxy", header_is_counted=False, content_is_encoded=True),
    Producer(name=""),
)
"""The first whose name matches counts; the last follows the format."""


def producer_of(name: str) -> Producer:
    """Return the producer of a creator's name and version.

    >>> [producer_of(name).body_is_counted for name in ("PhantomJS 2.1.1", "Charles Proxy 4.6.3")]
    [False, True]
    """
    return next(producer for producer in PRODUCERS if re.search(producer.name, name.lower()))
