"""Sections on sizes: shares that fit into windows, their curves, and what they were before."""
