"""Explore: the suites, the answers of the selected case, and the current run."""
