"""The project's documents in Markdown; as a package,
so that the service has them wherever it is installed."""
