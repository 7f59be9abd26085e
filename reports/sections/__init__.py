"""The sections of a report as plain data: figures and tables with their rows, sources and queries."""
