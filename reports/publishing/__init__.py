"""Versions of a year's report: published once, never replaced, and computed again from what they name."""
