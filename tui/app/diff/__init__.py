"""Diffs laid out for the screen: rows, words, colours, search, patches. Without textual."""
