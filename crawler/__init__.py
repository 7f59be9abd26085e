"""Visits pages and writes what came over the wire, through schema."""
