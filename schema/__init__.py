"""The tables and what is derived from them. Imports nothing of ours."""
