"""The explorer: CDFs of chosen measures and crawls side by side, as a figure, a table and files."""
