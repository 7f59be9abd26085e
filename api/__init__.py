"""The web service that serves releases and reports."""
