"""Manual risk scoring: the queue of items, score files, and the figures computed from scores."""
