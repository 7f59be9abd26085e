"""The address guard: a network namespace for browsers, from which only the public Internet can be reached."""
