"""The crawler: visits pages with a browser, measures what crossed the network, and writes it to the database.

From a site to its rows: a `worker.run.CrawlRun` starts browsers, its `ClaimLoop` claims a site, `visit_site`
visits its pages, a `Recorder` loads a page by one scheme and fills in a `SchemeAttempt`, which makes an
`Observation`, and `worker.claims.store_visit` writes its rows.
"""
