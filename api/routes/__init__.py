"""What is served, by kind of reader: the versioned API, files, and web pages."""
