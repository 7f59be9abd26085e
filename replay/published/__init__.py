"""Reproductions of published results, each with a verdict."""
