"""Captures the headers of packets, for what only packets can tell, and as an audit of the log."""
