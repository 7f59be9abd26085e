"""Breaks of the measuring method, which every series over months shows: the rows of docs/data-changelog.md marked as breaks."""

from __future__ import annotations

METHOD_BREAKS: dict[str, tuple[str, ...]] = {
    "2": (
        "The browser passes for plain Chrome, with a contact URL where one is given: it named itself HeadlessChrome before, "
        "which sites answer with walls. Mobile emulation. A 429 or 503 with Retry-After is visited again once the time is over, "
        "and the last visit is final.",
        "`from_cache` needs the log's word: requests given up before they were sent were taken for cached ones. What the "
        "renderer's memory answered is a row. Status where the browser refused a response over HTTP/1.1. Initiators: of a "
        "redirect's target that of the request, of a preflight likewise, of WebSockets; an ambiguous Referer is null, and requests "
        "of dedicated workers have the script that made them. Status of a request that was given up while its answer came, over "
        "HTTP/2 and HTTP/3. A page with a worker falls quiet: it was left as busy before.",
    )
}
"""What changed, by the method version that brought it."""
