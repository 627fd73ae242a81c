"""The history of runs; the only package that imports sqlite3."""
