"""Captures what a browser receives, and decrypts it by the browser's key log."""
