"""A kept run as JSON, Markdown, HTML, CSV or JUnit."""
