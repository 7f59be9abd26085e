"""The report's other forms: plain text, Markdown, PDF, blocks for an Internet-Draft,
and the data of each figure and table."""
