"""Caches of bounded size, in memory and on disk, and work that is shared between simultaneous requests."""
