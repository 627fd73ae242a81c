"""The Copilot SDK's client and the runtime behind it, a process of its own, started once."""

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


T = TypeVar("T")

_GOODBYE_S = 10.0
_PING_S = 5.0


class CopilotRuntime:
    """A runtime that runs, for somebody who is logged in. `client` is the SDK's; `label` says what answers."""

    def __init__(self, client: Any, label: str, folder: Path) -> None:
        self.client, self.label, self.folder = client, label, folder
        self.is_lost = False

    @classmethod
    async def start(cls, sdk: Any, settings: ProviderSettings, environ: Mapping[str, str]) -> "CopilotRuntime":
        """Start it, in an empty folder. The runtime may have to be downloaded by the SDK first, which takes minutes.
        Raises ProviderError: `crashed` with the SDK's own words, `unauthorized` where nobody is logged in."""
        folder = Path(tempfile.mkdtemp(prefix="assay-copilot-"))
        runtime = None
        try:
            # Making the client downloads the runtime where it is missing, and blocks.
            client = await _said(_apart(lambda: _make_client(sdk, settings, environ, folder)))
            runtime = cls(client, "", folder)
            await _said(client.start())
            status, login = await _said(client.get_status()), await _said(client.get_auth_status())
            if not login.isAuthenticated:
                told = f": {login.statusMessage}" if login.statusMessage else ""
                raise ProviderError("unauthorized", f"nobody is logged in to Copilot{told}", fix=LOGIN)
            runtime.label = f"Copilot SDK {sdk.__version__}, runtime {status.version}, mode empty, no tools"
        except BaseException:
            await (runtime.close() if runtime else asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))
            raise
        return runtime

    async def call(self, promise: Awaitable[T]) -> T:
        """What the SDK answers. Raises TryFailed with its words, `crashed` where the runtime is gone."""
        try:
            return await promise
        except Exception as error:  # noqa: BLE001 - the SDK raises bare exceptions, and its words are all there is
            words = str(error).strip() or type(error).__name__
        if await self.death() is None:
            raise TryFailed(ProviderError("refused", f"Copilot refused the question: {words}"))
        raise self.loss(words)

    async def death(self) -> str | None:
        """Why the runtime does not answer, in the SDK's words; None where it does."""
        try:
            async with asyncio.timeout(_PING_S):
                await self.client.ping()
        except Exception as error:  # noqa: BLE001 - whatever it is, it does not answer
            return str(error).strip() or "it does not answer"
        return None

    def loss(self, words: str) -> TryFailed:
        """The runtime is gone; another one has to be started."""
        self.is_lost = True
        return TryFailed(ProviderError("crashed", f"the Copilot runtime ended: {words}"))

    async def close(self) -> None:
        """End the process, if need be by force; returns when it is gone."""
        try:
            async with asyncio.timeout(_GOODBYE_S):
                await self.client.stop()
        except Exception:  # noqa: BLE001 - it has to go, whatever it says
            with contextlib.suppress(Exception):
                await self.client.force_stop()
        await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)


def load_sdk() -> Any:
    """The SDK, imported. Raises ProviderError where it cannot be."""
    try:
        sdk = importlib.import_module("copilot")
    except ImportError as error:
        what = f"{COPILOT} cannot be imported: {error}"
        raise ProviderError("not_found", what, fix=f"Run: pip install {COPILOT}") from None
    # What it logs would land in the middle of the screen; its errors are told as the answer's.
    logger = logging.getLogger("copilot")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return sdk


async def _said(promise: Awaitable[T]) -> T:
    """What the SDK answers. Raises ProviderError with its words."""
    try:
        return await promise
    except Exception as error:  # noqa: BLE001 - as above
        words = str(error).strip() or type(error).__name__
        raise ProviderError("crashed", f"Copilot cannot be started: {words}") from None


async def _apart(work: Callable[[], T]) -> T:
    """The work, in a thread that nobody has to wait for at the end of the process."""
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
    # A token needs nothing of the person's own folder; a stored login is in there.
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
