"""Benchmarks: each writes build/bench/NAME.json, from which docs/performance.md is made."""
