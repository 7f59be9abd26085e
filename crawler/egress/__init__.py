"""The address guard: browsers live in a network namespace from which only the public Internet can be reached."""
