"""Releases and reports on disk, checked against their checksums and signatures."""
