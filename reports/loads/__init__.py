"""The loads that a report carries, so that its numbers can be computed again without
the replay that they are from."""
