"""What a release carries to describe itself: its history, metadata for other programs,
documents and a sample."""
