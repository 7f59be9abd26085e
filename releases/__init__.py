"""Releases: immutable Parquet files of one crawl, built, verified, published and queried."""
