"""Page recipes: what a page load consists of, read from a release or from recordings."""
