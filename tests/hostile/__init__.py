"""Input of strangers: whatever the bytes, a sentence or a result, and nothing is lost."""
