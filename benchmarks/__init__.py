"""Benchmarks, each of which writes build/bench/NAME.json;
docs/performance.md is generated from these files."""
