"""Serves releases and reports over HTTP."""
