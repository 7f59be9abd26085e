"""Reads NetLogs of anybody's Chrome by the crawler's own reader, and makes rows of the pages in them."""
