"""Figures, tables and numbers of a published report,
computed again from the release and replay that it names."""
