"""A crawl as a whole: its plan, its status, its gate and its seal."""
