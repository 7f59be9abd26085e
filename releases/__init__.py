"""Releases, the immutable Parquet files of a crawl: build, verify, publish, withdraw and query them."""
