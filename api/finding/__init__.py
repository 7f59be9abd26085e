"""What makes everything findable: lists of releases and reports, a search, a feed and a site map."""
