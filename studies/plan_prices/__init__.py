"""Core-time of page loads as a replay plans it, held against the runs."""
