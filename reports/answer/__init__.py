"""The report's answer: one of four headlines, with the numbers, bounds and needs behind it."""
