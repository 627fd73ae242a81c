"""The history of runs; the only home of sqlite3."""
