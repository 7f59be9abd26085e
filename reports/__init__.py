"""Releases, distributions, replay, recommendation and the report."""
