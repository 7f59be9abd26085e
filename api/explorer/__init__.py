"""The explorer: CDFs of chosen measures, strata and crawls side by side, as a figure, a table and files, the
months below it, and single windows at addresses that stay."""
