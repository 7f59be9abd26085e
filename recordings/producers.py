"""The programs that write HAR files, and what is known of the sizes that each of them writes.

`python -m scripts.recordings.producers` makes the table of docs/recorded-files.md from this
list and the entries of the tests.
"""

import dataclasses
import re


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Producer:
    """A program, and how its sizes are read where the format leaves it open
    or the program departs from it."""

    id: str
    name: re.Pattern[str]
    """Matches the creator's name and version in lower case."""
    title: str
    counts: str
    """What its sizes are."""
    taken: str
    """What is taken of them."""
    unknown: str
    """What stays null."""
    header_is_counted: bool = True
    """False if `headersSize` is not the size of a header."""
    body_is_counted: bool = True
    """False if `bodySize` is not the size of an encoded body."""
    body_holds_header: bool = False
    """True if `bodySize` includes the header."""
    body_holds_framing: bool = False
    """True if `bodySize` includes the framing of chunks."""
    empty_is_cached: bool = False
    """True if a `bodySize` of 0 beside a content means that a cache answered."""
    content_is_encoded: bool = False
    """True if `content.size` is the size before decompression."""
    redirect_has_target_size: bool = False
    """True if the size of a redirect is that of the response that it led to."""
    body_is_total: bool = False
    """True if `bodySize` beside a `headersSize` of 0 is header and body together."""
    accumulates: bool = False
    """True if sizes add up over each connection, and loads are told apart by pauses alone."""
    tried: str = "none"
    """What the tests read of it, where that is no entry of a HAR."""


PRODUCERS = (
    Producer(
        id="devtools",
        name=re.compile(r"webinspector"),
        title="Chrome's DevTools",
        counts="`_transferSize`: header and body as they came, with the headers of frames; "
        "of a redirect the header alone",
        taken="the total; the body by Content-Length, or if it is not compressed by its decoded size; a "
        "redirect with the body that its Content-Length states is derived",
        unknown="the split of a compressed body without Content-Length; "
        "what a cache or a service worker answered is left out",
        body_holds_framing=True,
        empty_is_cached=True,
    ),
    Producer(
        id="chrome-har",
        name=re.compile(r"chrome-har\b"),
        title="chrome-har (Browsertime, sitespeed.io)",
        counts="as Chrome's DevTools; over HTTP/2 the headers of a response that was "
        "redirected to may be the redirect's",
        taken="as Chrome's DevTools; a Content-Length that is the redirect's is not believed",
        unknown="as Chrome's DevTools; an image that cannot be decoded, whose total is its "
        "Content-Length (contradictory)",
        body_holds_framing=True,
    ),
    Producer(
        id="chrome-har-capturer",
        name=re.compile(r"chrome har capturer"),
        title="chrome-har-capturer",
        counts="as Chrome's DevTools; `bodySize` is the difference to the header's text, and may be negative",
        taken="as Chrome's DevTools; a total below the Content-Length of a body that the page saw whole "
        "is a 304, with a body of 0",
        unknown="as Chrome's DevTools",
        body_holds_framing=True,
    ),
    Producer(
        id="playwright",
        name=re.compile(r"playwright"),
        title="Playwright",
        counts="`_transferSize`: header and body; before it had that field, "
        "`bodySize` beside a `headersSize` of 0",
        taken="as Chrome's DevTools; a body of minus the header's size is a cache's",
        unknown="redirects over HTTP/2 and HTTP/3, which count as 0 bytes; "
        "images that cannot be decoded (contradictory)",
        body_is_total=True,
        body_holds_framing=True,
    ),
    Producer(
        id="safari",
        name=re.compile(r"webkit web inspector"),
        title="Safari's Web Inspector",
        counts="`_transferSize`: header and body; `_fetchType` says whether a cache or "
        "a service worker answered",
        taken="the total, or else header and body over HTTP/1.1",
        unknown="responses over HTTP/2 without a total",
    ),
    Producer(
        id="firefox",
        name=re.compile(r"firefox (6[2-9]|[7-9]\d|\d{3})"),
        title="Firefox since 62",
        counts="`bodySize`: body and the header's text together, of a redirect that of its target; "
        "`headersSize`: the header's text",
        taken="the body; over HTTP/1.1 with the header",
        unknown="the size on the wire over HTTP/2 and HTTP/3, whose headers are compressed; redirects "
        "whose Content-Length does not confirm their size; what a cache answered is left out",
        body_holds_header=True,
        empty_is_cached=True,
        redirect_has_target_size=True,
    ),
    Producer(
        id="firefox-old",
        name=re.compile(r"firefox"),
        title="Firefox before 62",
        counts="`bodySize`: the body; `headersSize`: the header's text",
        taken="header and body over HTTP/1.1",
        unknown="the size on the wire over HTTP/2; chunked bodies, whose framing is not counted",
    ),
    Producer(
        id="webpagetest",
        name=re.compile(r"webpagetest"),
        title="WebPageTest",
        counts="`bodySize` and `content.size`: the encoded body, in 2015 often 0; "
        "`_objectSizeUncompressed`: the decoded one; `headersSize`: the header's text",
        taken="header and body over HTTP/1.1",
        unknown="the size on the wire over HTTP/2 and SPDY; chunked bodies; "
        "bodies of 0 bytes beside a Content-Length",
        content_is_encoded=True,
    ),
    Producer(
        id="browsertime",
        name=re.compile(r"browsertime 1\.0$"),
        title="Browsertime 1",
        counts="`bodySize`: the decoded body, or over HTTP/2 header and body; `headersSize`: "
        "the header's text or -1",
        taken="the body by Content-Length; over HTTP/1.1 with the header (derived)",
        unknown="the size on the wire over HTTP/2 and SPDY; bodies without Content-Length",
        body_is_counted=False,
    ),
    Producer(
        id="phantomjs",
        name=re.compile(r"phantomjs"),
        title="PhantomJS",
        counts="`bodySize`: the first chunk that arrived",
        taken="Content-Length and the header's text (derived)",
        unknown="bodies without Content-Length",
        body_is_counted=False,
    ),
    Producer(
        id="hdrgrab",
        name=re.compile(r"hdrgrab"),
        title="hdrgrab 0.2",
        counts="`bodySize`: the sum of the bodies on the connection so far",
        taken="differences of the sums, with the header's text (derived)",
        unknown="bodies that Content-Length contradicts; chunked bodies",
        content_is_encoded=True,
        accumulates=True,
    ),
    Producer(
        id="mitmproxy",
        name=re.compile(r"mitmproxy"),
        title="mitmproxy",
        counts="`bodySize` and `content.size`: the encoded body; `headersSize`: "
        "the length of a Python representation",
        taken="the body, with the header's text over HTTP/1.1 (derived)",
        unknown="the size on the wire over HTTP/2; chunked bodies, whose framing is not counted",
        header_is_counted=False,
        content_is_encoded=True,
    ),
)
"""Known producers; the first whose name matches counts."""

OTHER = Producer(
    id="other",
    name=re.compile(r""),
    title="any other (Charles, Fiddler, Internet Explorer, ...)",
    counts="header and body as the format says",
    taken="a total if there is one; else header and body over HTTP/1.1, each compared with "
    "Content-Length and the decoded size",
    unknown="the size on the wire over HTTP/2 and HTTP/3 without a total; chunked bodies; contradictory "
    "numbers, such as the decoded size for the encoded one",
)
"""What holds for every producer of which nothing else is known."""


NEVER = re.compile(r"(?!)")

DEVTOOLS_LOG = Producer(
    id="cdp",
    name=NEVER,
    title="logs of DevTools events",
    counts="`loadingFinished`: header and body as they came; `responseReceived`: the header, with some "
    "or all of the body; `redirectResponse`: the header of a redirect",
    taken="the total; of a redirect the header with the body that its Content-Length states (derived); "
    "of a response that broke off what had come; of a preflight its header",
    unknown="the split of a compressed body without Content-Length; a response that broke off of which "
    "the page saw more than was counted (contradictory); "
    "what a cache or a service worker answered is left out",
    tried="made-up logs",
)
NETLOG = Producer(
    id="netlog",
    name=NEVER,
    title="NetLogs of Chrome",
    counts="every byte that a connection received; with the capture mode Everything the bytes themselves",
    taken="what the crawler's own reader finds: header, framing and body, of each response and connection",
    unknown="without the bytes (capture modes Default and IncludeSensitive): headers over HTTP/2, TLS "
    "flights and tickets; what connections older than the log carried before it",
    tried="logs of Chromium",
)
"""Forms of recordings that are no HAR, for the table of producers."""


def producer_of(name: str) -> Producer:
    """Return the producer with a creator's name and version.

    >>> producer_of("Firefox 128.0").id, producer_of("Charles Proxy 4.6.3").id
    ('firefox', 'other')
    """
    return next((producer for producer in PRODUCERS if producer.name.search(name.lower())), OTHER)
