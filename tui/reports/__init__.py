"""Reports of a stored run as JSON, Markdown, HTML, CSV or JUnit."""
