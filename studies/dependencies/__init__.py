"""Inferred dependencies of recorded pages, held against recorded ones."""
