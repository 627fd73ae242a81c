"""Manual risk scoring: what there is to score, in which order, the files that keep it, and the figures from it."""
