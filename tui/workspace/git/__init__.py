"""Clones of repositories, their commits and diffs."""
