"""A Plan becomes a stream of events."""
