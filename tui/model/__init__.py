"""Immutable values that all other packages share. Imports only the standard library and pydantic."""
