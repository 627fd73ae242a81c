"""Processes that leave nothing behind: agents and the local model's server live in them."""
