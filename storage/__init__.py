"""The database engine, database upkeep, and files that are written whole or not at all."""
