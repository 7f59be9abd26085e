"""Statistics of releases by request: series over months."""
