"""What is shown, as pure functions: text in pieces, each with a role that a theme gives a look; no textual here."""
