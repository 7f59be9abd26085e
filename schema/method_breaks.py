"""Breaks of the measuring method, which every series over months shows:
the rows of docs/data-changelog.md marked as breaks."""

METHOD_BREAKS: dict[str, tuple[str, ...]] = {
    "3": (
        "A page is quiet only once the browser has had nothing to do for half a second: pages that "
        "compute for longer between two requests, and all on a busy machine, are recorded further.",
    ),
}
"""Changes of the method, by the version that brought them."""
