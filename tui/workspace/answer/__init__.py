"""Application of an answer's code blocks to a repository."""
