"""Measures how the cost of a crawl and of its release grows with the number of sites, and of a service with
the number of months."""
