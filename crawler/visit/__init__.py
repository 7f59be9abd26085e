"""One visit to one page, from navigation to rows."""
