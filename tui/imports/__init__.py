"""Results of other tools, read into runs of ours."""
