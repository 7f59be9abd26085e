"""Published results, measured again, with a verdict each."""
