"""Read YAML and JSON with the position of every value, within limits."""
