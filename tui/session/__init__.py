"""One run, wired: runner, then store, then whoever listens."""
