"""What clones are made with."""


def git_versions() -> dict[str, str]:
    """The binding and the library, by name. Loads both."""
    from importlib.metadata import version

    import pygit2

    return {"pygit2": version("pygit2"), "libgit2": pygit2.LIBGIT2_VERSION}
