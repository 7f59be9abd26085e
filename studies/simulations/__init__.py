"""Simulated worlds with a known truth: coverage of the intervals,
and operating characteristics of the rule."""
