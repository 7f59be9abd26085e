"""Replay runs: cells planned, replayed by guests, checked by gates and stored."""
