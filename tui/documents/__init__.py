"""Reading YAML and JSON with the position of every value, within limits."""
