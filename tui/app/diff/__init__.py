"""Diffs laid out for the screen: rows, changed words, colors, search and patches."""
