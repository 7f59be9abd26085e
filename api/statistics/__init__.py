"""Statistics of releases by request: series over months, strata, and the first flight."""
