"""Read suites in the TestHaven format."""
