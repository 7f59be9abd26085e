"""Derives the recorded sets that come with the code from facts of their pages."""
