"""Pages of single sites: a site over the months, and one page load as a waterfall."""
