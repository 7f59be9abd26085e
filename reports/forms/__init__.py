"""The report's other forms: the brief, Markdown, an Internet-Draft, and the data of each figure and table."""
