"""The browser: processes, identity and live log."""
