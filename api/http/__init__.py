"""HTTP itself: conditional requests, HEAD, hosts, common headers, errors, links and metrics."""
