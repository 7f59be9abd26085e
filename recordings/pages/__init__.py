"""Recorded sets, which are imported as releases, and the sites that they have in common."""
