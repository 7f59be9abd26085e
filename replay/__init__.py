"""Replays recorded pages over the Linux TCP stack."""
