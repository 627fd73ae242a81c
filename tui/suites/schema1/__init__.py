"""Loading suites in the format `schemaVersion: 1`."""
