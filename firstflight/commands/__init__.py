"""One module a group of commands."""
