"""Chromium's NetLog: events assembled into connections and responses."""
