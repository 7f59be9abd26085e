"""Rows of a release: filters by the types of its columns, pages by cursor, and queries of its Parquet."""
