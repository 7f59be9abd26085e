"""The crawler: visits pages with a browser, measures what crossed the network,
and writes it to the database."""
