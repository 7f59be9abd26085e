"""Versions of a year's report: published once, never replaced."""
