"""Clone repositories and compute their diffs."""
