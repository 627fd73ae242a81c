"""Versions and user settings of git."""


def git_versions() -> dict[str, str]:
    """Return the versions of the binding and the library by name. Loads both."""
    from importlib.metadata import version

    import pygit2

    return {"pygit2": version("pygit2"), "libgit2": pygit2.LIBGIT2_VERSION}


def git_user_name() -> str | None:
    """Return `user.name` of the user's git config, from all places where git looks for it. Runs no command."""
    import pygit2

    for find in (pygit2.Config.get_global_config, pygit2.Config.get_xdg_config):
        try:
            if name := " ".join((find()["user.name"] or "").split()):
                return name
        except (OSError, KeyError, ValueError, pygit2.GitError):
            continue
    return None
