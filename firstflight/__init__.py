"""The command line: puts crawler, schema, reports and api together. Nothing imports it."""
