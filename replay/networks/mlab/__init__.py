"""Populations of networks made of M-Lab's monthly percentiles of NDT tests by
country (docs/populations.md)."""
