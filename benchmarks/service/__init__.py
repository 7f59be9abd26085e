"""The service under load, and its streams of rows, beside Datasette's of the same tables."""
