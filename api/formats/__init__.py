"""Rows as JSON, NDJSON, CSV, Arrow and Parquet: which format a client asks for, its bytes,
and how they are streamed."""
