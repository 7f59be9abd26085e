"""Storage: the database engine, its upkeep, and files that are written whole or not at all."""
