"""The optional Copilot SDK: whether it is there, found without importing it, and what to do where it is not."""

from tui.model.errors import ConfigError

COPILOT = "github-copilot-sdk"
LOGIN = "Set COPILOT_GITHUB_TOKEN, GH_TOKEN or GITHUB_TOKEN to a token of an account that has Copilot."


def copilot_version() -> str | None:
    """The version of the installed SDK; None where there is none."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(COPILOT)
    except PackageNotFoundError:
        return None


def require_copilot(name: str) -> None:
    """Raises ConfigError, which says what to install, where the SDK is missing; `name` is the provider's."""
    if copilot_version() is None:
        raise ConfigError(f"{name} needs {COPILOT}, which is not installed", fix=f"Run: pip install {COPILOT}")
