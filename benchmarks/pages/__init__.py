"""Benchmark of the service's pages: what each weighs in Chromium, and when it is first painted."""
