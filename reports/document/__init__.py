"""The report as a document: content, figures, page and summary."""
