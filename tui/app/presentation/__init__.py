"""Pure functions that turn results into styled text. Nothing in this package imports textual."""
