"""The local web: structure and sizes of real pages, served on loopback with made-up content."""
