"""Render reports as HTML."""
