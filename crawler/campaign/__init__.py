"""A crawl as a whole: planned, watched, checked and sealed."""
