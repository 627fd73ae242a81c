"""The providers of this machine with their states and models, new providers, and the models chosen for each suite."""

import asyncio
import json
import re
import threading
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tui.config.folders import Folders
from tui.model.current_folder import normal_path
from tui.model.errors import ConfigError, FieldsRefused
from tui.model.secrets import REMOVED
from tui.model.servers import SERVERS, has_password, query_secrets, url_fault
from tui.model.subjects import Config
from tui.model.values import JsonObject
from tui.providers.registry import provider_settings
from tui.session.config_file import ConfigFile
from tui.session.files import locked_for_change, read_json, write_safely
from tui.session.models import LISTLESS, ListedModels, ProvidersAlone, list_each

_MOST_MODELS = 1_000
_MOST_LISTED = 3_000
_MOST_SUITES = 300
_MOST_FILE_BYTES = 1 << 20
_LONGEST_NAME = 5_000
_PROVIDER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}")
_VARIABLE_NAME = re.compile(r"[A-Z_][A-Z0-9_]{0,79}")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ProviderState:
    """Whether a provider can be used, as far as this is known without a request.

    `key_name` is the variable that provides its key, `needs` the variables that are missing, `fault` the reason why it
    cannot be used.
    """

    name: str
    key_name: str = ""
    needs: str = ""
    fault: str = ""

    @property
    def is_usable(self) -> bool:
        """Return whether the provider can be asked for its models."""
        return not self.fault


@dataclass(frozen=True, slots=True)
class NewProvider:
    """A provider to add to the config file; `key_variable` is the variable with its key, if it needs one."""

    name: str
    kind: str
    base_url: str = ""
    key_variable: str = ""


class ModelCatalog:
    """The providers and their models. `use_config` is called with the new config after a provider was added.

    `lists` has the last answer of each provider that was asked. All methods but `list_models` block: call them in a
    thread. `built_in` are the names of the built-in providers.
    """

    def __init__(
        self,
        folders: Folders,
        environ: Mapping[str, str],
        config: Config,
        use_config: Callable[[Config], object],
        built_in: Collection[str] = tuple(SERVERS),
    ) -> None:
        self._environ, self._config, self._use_config = environ, config, use_config
        self._built_in = built_in
        self._file = ConfigFile(folders, environ, Path(config.project) if config.project else None)
        self.lists: dict[str, ListedModels] = {}
        self.choices = ChosenModels(folders.data / "chosen-models.json")

    def states(self) -> tuple[ProviderState, ...]:
        """Return the state of each provider that can list models: first those of the config file. Sends no request."""
        names = [*self._config.providers, *(name for name in self._built_in if name not in self._config.providers)]
        return tuple(self._state(name) for name in names if name not in LISTLESS)

    def _state(self, name: str) -> ProviderState:
        try:
            settings = provider_settings(name, self._config, self._environ)
        except ConfigError as error:
            return ProviderState(name, needs=error.needs, fault=str(error))
        return ProviderState(name, key_name=settings.key_name if settings.api_key else "")

    async def list_models(self, name: str) -> ListedModels:
        """Ask a provider for its models, in a thread with its own event loop, and keep the answer in `lists`."""
        listed = await _run_apart(lambda: self._ask(name))
        models = tuple(model for model in listed.models if REMOVED not in model)[:_MOST_LISTED]
        self.lists[name] = ListedModels(name, models, listed.error)
        return self.lists[name]

    async def _ask(self, name: str) -> ListedModels:
        providers = ProvidersAlone(self._environ, self._config)
        try:
            return (await list_each(providers, [name]))[0]
        except Exception as error:  # noqa: BLE001 one bad provider must not end the app
            return ListedModels(name, error=providers.secrets.hide(f"{type(error).__name__}: {error}"))
        finally:
            await providers.close()

    def add_provider(self, new: NewProvider) -> None:
        """Add a provider to the config file and use it. The rest of the file stays as it is.

        The new text is read as a config before it replaces the file. Raises FieldsRefused.
        """
        if faults := self._faults_of(new):
            raise FieldsRefused(faults)
        entry = {"kind": new.kind, "base_url": new.base_url}
        if new.key_variable:
            entry["api_key"] = f"${{{new.key_variable}}}"
        filled: JsonObject = {key: value for key, value in entry.items() if value}
        try:
            config = self._file.edit(lambda document: document.add_entry("providers", new.name, filled))
        except ConfigError as error:
            raise FieldsRefused(_faults_by_field(error, new)) from error
        self.lists.pop(new.name, None)
        self.replace_config(config)
        self._use_config(config)

    def replace_config(self, config: Config) -> None:
        """Use another config from now on."""
        self._config = config

    def _faults_of(self, new: NewProvider) -> dict[str, str]:
        faults = {}
        if not _PROVIDER_NAME.fullmatch(new.name):
            faults["name"] = "expected letters, digits, _, - and ."
        elif new.name in self._config.providers:
            faults["name"] = "is in the config file already"
        elif new.name in LISTLESS:
            faults["name"] = "has another meaning; choose another name"
        if new.kind not in PROVIDER_KINDS:
            faults["kind"] = f"expected {' or '.join(PROVIDER_KINDS)}"
        if new.base_url or new.name not in SERVERS:
            fault = url_fault(new.base_url) if new.base_url else "is missing, for example http://localhost:8080/v1"
            if not fault and (has_password(new.base_url) or query_secrets(new.base_url)):
                fault = "contains a key or password; use a variable"
            if fault:
                faults["base_url"] = fault
        if new.key_variable and not _VARIABLE_NAME.fullmatch(new.key_variable):
            faults["key_variable"] = "expected the name of a variable (A-Z, 0-9, _), not the key"
        return faults


PROVIDER_KINDS = ("openai", "anthropic")
"""The kinds of providers that can be added: those that have a URL."""


def _faults_by_field(error: ConfigError, new: NewProvider) -> dict[str, str]:
    """Return the errors of a config by the field that they belong to; those of other places under an empty name."""
    fields = {f"providers.{new.name}.{key}": key for key in ("kind", "base_url")}
    fields |= {f"providers.{new.name}": "name", f"providers.{new.name}.api_key": "key_variable"}
    faults: dict[str, str] = {}
    for problem in error.problems:
        if problem.level == "error":
            field = fields.get(problem.where, "")
            faults.setdefault(field, problem.what if field else str(problem))
    return faults or {"": str(error)}


class ChosenModels:
    """The models that were chosen for each suite, in a file of the data folder. A damaged file counts as empty."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> dict[str, tuple[str, ...]]:
        """Return the chosen models by the absolute path of the suite file, the last chosen last."""
        kept = read_json(self._file, _MOST_FILE_BYTES)
        if not isinstance(kept, dict):
            return {}
        return {path: tuple(names[:_MOST_MODELS]) for path, names in kept.items() if _are_names(names)}

    def remember(self, path: Path, names: Sequence[str]) -> None:
        """Remember the models of a suite; without names, forget them. Raises StoreError."""
        with locked_for_change(self._file, "the choice of models"):
            kept = self.read()
            before = kept.pop(key := normal_path(path), None)
            if names:
                kept[key] = tuple(names)
            elif before is None:
                return
            text = json.dumps(dict(list(kept.items())[-_MOST_SUITES:]), indent=1)
            if len(text) <= _MOST_FILE_BYTES:
                write_safely(self._file, text, mode=0o600)


def _are_names(names: object) -> bool:
    is_list = isinstance(names, list) and bool(names)
    return is_list and all(isinstance(each, str) and 0 < len(each) <= _LONGEST_NAME for each in names)  # type: ignore[attr-defined]


async def _run_apart(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine function in a thread with an event loop of its own; a cancellation stops it there."""
    stopped = threading.Event()
    stops: list[Callable[[], object]] = []

    async def cancellable() -> T:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        stops.append(lambda: loop.call_soon_threadsafe(task.cancel))
        if stopped.is_set():
            raise asyncio.CancelledError
        return await work()

    try:
        return await asyncio.to_thread(lambda: asyncio.run(cancellable()))
    except asyncio.CancelledError:
        stopped.set()
        for stop in stops:
            with suppress(RuntimeError):  # the loop is closed already
                stop()
        raise
