"""Files and repositories that a case works on; the only home of pygit2."""
