"""A web server on loopback whose pages are handlers, and which logs every byte that it sends."""
