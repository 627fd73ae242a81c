"""The files that are sent with a prompt: selection, reading, description."""
