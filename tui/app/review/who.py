"""Who scores, as far as that can be guessed."""

import getpass
import subprocess

_SECONDS = 2.0


def guess_name() -> str:
    """Git's name for the person, else the login's; empty where neither is known. It blocks: for a thread."""
    try:
        asked = subprocess.run(
            ["git", "config", "--get", "user.name"], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
        if asked.stdout.strip():
            return " ".join(asked.stdout.split())
    except (OSError, ValueError, subprocess.SubprocessError):
        pass
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
