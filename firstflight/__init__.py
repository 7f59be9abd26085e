"""The command line and its settings. No other package imports it."""
