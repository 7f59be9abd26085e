"""Statistics of paired page loads."""
