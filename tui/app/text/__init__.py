"""Text layout: sanitizing, wrapping, marks and code highlighting. Nothing in this package imports textual."""
