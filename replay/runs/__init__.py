"""Replay runs: cells are planned, replayed by calibrated guests, and stored."""
