"""The report of a year: statistics of page loads, the recommendation, and the document."""
