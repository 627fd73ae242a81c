"""Guarded processes, which leave no child process behind: for agents and the local model's server."""
