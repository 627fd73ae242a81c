"""The Copilot SDK's client and its runtime, a process that is started once."""

import asyncio
import contextlib
import importlib
import logging
import shutil
import tempfile
import threading
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from tui.model.errors import ConfigError, ProviderError
from tui.model.subjects import ProviderSettings
from tui.providers.http.errors import TryFailed

COPILOT = "github-copilot-sdk"
LOGIN = "Set COPILOT_GITHUB_TOKEN, GH_TOKEN or GITHUB_TOKEN to a token of an account with Copilot access."


def copilot_version() -> str | None:
    """Return the version of the installed SDK, or None."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(COPILOT)
    except PackageNotFoundError:
        return None


def require_copilot(name: str) -> None:
    """Raise ConfigError, which says what to install, if the SDK is missing; `name` is the provider's."""
    if copilot_version() is None:
        raise ConfigError(f"{name} needs {COPILOT}, which is not installed", fix=f"Run: pip install {COPILOT}")


T = TypeVar("T")

_GOODBYE_S = 10.0
_PING_S = 5.0


class CopilotRuntime:
    """A running runtime with a logged-in user. `client` is the SDK's; `label` describes what answers."""

    def __init__(self, client: Any, label: str, folder: Path) -> None:
        self.client, self.label, self.folder = client, label, folder
        self.is_lost = False

    @classmethod
    async def start(cls, sdk: Any, settings: ProviderSettings, environ: Mapping[str, str]) -> "CopilotRuntime":
        """Start the runtime in an empty folder.

        The SDK may have to download it first, which takes minutes. Raises ProviderError: `crashed` with the SDK's
        message, `unauthorized` if nobody is logged in.
        """
        try:
            folder = Path(tempfile.mkdtemp(prefix="assay-copilot-"))
        except OSError as error:
            what = f"cannot create a temporary folder ({error.strerror})"
            raise ProviderError("crashed", what, fix="Free disk space, or set TMPDIR.") from error
        runtime = None
        try:
            # Creating the client downloads a missing runtime, and blocks.
            client = await _sdk_result(_in_daemon_thread(lambda: _make_client(sdk, settings, environ, folder)))
            runtime = cls(client, "", folder)
            await _sdk_result(client.start())
            status, login = await _sdk_result(client.get_status()), await _sdk_result(client.get_auth_status())
            if not login.isAuthenticated:
                detail = f": {login.statusMessage}" if login.statusMessage else ""
                raise ProviderError("unauthorized", f"not logged in to Copilot{detail}", fix=LOGIN)
            runtime.label = f"Copilot SDK {sdk.__version__}, runtime {status.version}, mode empty, no tools"
        except BaseException:
            await (runtime.close() if runtime else asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))
            raise
        return runtime

    async def call(self, promise: Awaitable[T]) -> T:
        """Return the result of an SDK call.

        Raises TryFailed with the SDK's message, `crashed` if the runtime has ended.
        """
        try:
            return await promise
        except Exception as error:  # noqa: BLE001 - the SDK raises bare exceptions, and its words are all there is
            words = str(error).strip() or type(error).__name__
        if await self.exit_reason() is None:
            raise TryFailed(ProviderError("refused", f"Copilot refused the request: {words}"))
        raise self.exit_failure(words)

    async def exit_reason(self) -> str | None:
        """Return why the runtime does not answer, in the SDK's words, or None if it does."""
        try:
            async with asyncio.timeout(_PING_S):
                await self.client.ping()
        except Exception as error:  # noqa: BLE001 - whatever it is, it does not answer
            return str(error).strip() or "no response"
        return None

    def exit_failure(self, words: str) -> TryFailed:
        """Return the error for a runtime that has ended; a new one has to be started."""
        self.is_lost = True
        return TryFailed(ProviderError("crashed", f"the Copilot runtime exited: {words}"))

    async def close(self) -> None:
        """End the process, by force if needed, and return when it has ended."""
        try:
            async with asyncio.timeout(_GOODBYE_S):
                await self.client.stop()
        except Exception:  # noqa: BLE001 - it has to go, whatever it says
            with contextlib.suppress(Exception):
                await self.client.force_stop()
        await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)


def load_sdk() -> Any:
    """Import and return the SDK. Raises ProviderError if that fails."""
    try:
        sdk = importlib.import_module("copilot")
    except ImportError as error:
        what = f"{COPILOT} cannot be imported: {error}"
        raise ProviderError("not_found", what, fix=f"Run: pip install {COPILOT}") from None
    # Its log would be printed across the screen; its errors are reported with the answer.
    logger = logging.getLogger("copilot")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return sdk


async def _sdk_result(promise: Awaitable[T]) -> T:
    """Return the result of an SDK call. Raises ProviderError with the SDK's message."""
    try:
        return await promise
    except Exception as error:  # noqa: BLE001 - as above
        words = str(error).strip() or type(error).__name__
        raise ProviderError("crashed", f"Cannot start Copilot: {words}") from None


async def _in_daemon_thread(work: Callable[[], T]) -> T:
    """Run blocking work in a daemon thread, so that the process can end without waiting for it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: Exception | None) -> None:
        if not done.cancelled():
            done.set_exception(error) if error is not None else done.set_result(cast("T", result))

    def run() -> None:
        try:
            outcome: tuple[T | None, Exception | None] = (work(), None)
        except Exception as error:  # noqa: BLE001 - it is raised where the work is waited for
            outcome = (None, error)
        with contextlib.suppress(RuntimeError):  # nobody waits any more
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=run, daemon=True).start()
    return await done


def _make_client(sdk: Any, settings: ProviderSettings, environ: Mapping[str, str], folder: Path) -> Any:
    # A token needs nothing of the user's home folder; a stored login is in it.
    home = folder / "home" if settings.api_key else Path(environ.get("COPILOT_HOME") or Path.home() / ".copilot")
    return sdk.CopilotClient(
        mode="empty",
        connection=sdk.RuntimeConnection.for_stdio(),
        base_directory=str(home),
        working_directory=str(folder),
        env=dict(environ),
        github_token=settings.api_key,
        use_logged_in_user=settings.api_key is None,
        log_level="error",
    )
