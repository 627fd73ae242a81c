"""What git calls the person here."""


def git_user_name() -> str | None:
    """`user.name` of the person's own git config."""
    import pygit2

    try:
        return (pygit2.Config.get_global_config()["user.name"] or "").strip() or None
    except (OSError, KeyError, ValueError, pygit2.GitError):
        return None
