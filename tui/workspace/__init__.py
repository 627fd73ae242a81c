"""Files and repositories that a case works on; the only package that imports pygit2."""
