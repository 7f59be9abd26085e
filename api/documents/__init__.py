"""The project's documents as pages: found in the package docs, and rendered from Markdown."""
