"""Declarations of the tables and the names in them; imports no other package of the project."""
