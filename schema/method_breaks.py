"""Breaks of the measuring method, which every series over months shows:
the rows of docs/data-changelog.md marked as breaks."""

METHOD_BREAKS: dict[str, tuple[str, ...]] = {}
"""What changed, by the method version that brought it."""
