"""Sizes in recorded files, held against those that another reader derived of the same files."""
