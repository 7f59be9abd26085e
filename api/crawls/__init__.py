"""Pages for operators: how far each crawl is, and whether it is good enough."""
