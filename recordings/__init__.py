"""Reads page loads recorded by other tools, HAR files and CDP logs,
as exchanges in the order of the requests."""
