"""Turn the code blocks of an answer into changes of a repository."""
