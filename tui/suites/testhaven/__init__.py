"""Loading suites in the TestHaven format."""
