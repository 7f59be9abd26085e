"""Routes of the service: the JSON API, files, and web pages."""
