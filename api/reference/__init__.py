"""The documentation of the API, whose examples are answered by the service itself."""
