"""Providers, opened once and shared by all runs of this process."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tui.model.environ import without_keys
from tui.model.errors import ConfigError, StoreError
from tui.model.prices import Price
from tui.model.servers import agent_url_fault, show_url
from tui.model.subjects import AGENT_URLS, REPLAY, Config, ProviderKind, Subject, is_replay_name
from tui.providers.prices import Listed, look_up, may_be_listed
from tui.providers.protocol import Provider, Reopens
from tui.providers.registry import import_provider, open_provider, provider_settings
from tui.store.protocol import Store

_RUN = re.compile("[0-9a-f]{32}")
_WITH_PROGRAMS: tuple[ProviderKind, ...] = ("agent", "local", "copilot")


def reopen_all(providers: dict[str, Provider]) -> dict[str, Provider]:
    """Return the same providers, with those that were closed by a rejected key open for requests again."""
    for provider in providers.values():
        if isinstance(provider, Reopens):
            provider.reopen()
    return providers


class OpenProviders:
    """The providers that are open, by subject.

    A recorded run is a provider of its own, which needs a store and is not shared; all others are, so that their limits
    (a rejected key, a pause after status 429) apply to all runs.
    """

    def __init__(
        self, config: Config, environ: Mapping[str, str], store: Store | None, replay_speed: float | None
    ) -> None:
        self._config, self._environ, self._store = config, environ, store
        self._replay_speed = replay_speed
        self._open: dict[str, Provider] = {}
        self._kinds: dict[str, ProviderKind] = {}
        self._replaced: list[Provider] = []  # runs may still use them

    def use_config(self, config: Config) -> None:
        """Open providers by this config from now on.

        An open provider whose entry has changed is no longer taken. Neither is one that starts programs if there is a
        new key, which must not be in their environment.
        """
        is_key_new = not {*config.secrets.values()} <= {*self._config.secrets.values()}
        changed = [
            name
            for name in self._open
            if config.providers.get(name) != self._config.providers.get(name)
            or (is_key_new and self._kinds.get(name) in _WITH_PROGRAMS)
        ]
        self._replaced += [self._open.pop(name) for name in changed]
        self._config = config

    def import_modules(self, subjects: Sequence[Subject]) -> None:
        """Import what the providers of the subjects need, so that `take` does not stop the event loop. Blocks.

        Raises ConfigError.
        """
        for name in dict.fromkeys(subject.provider for subject in subjects):
            import_provider(provider_settings(name, self._config, self._environ).kind)

    def take(self, subjects: Sequence[Subject], replay_speed: float | None = None) -> dict[str, Provider]:
        """Return the providers by subject name for a run that begins.

        Recorded answers are replayed at `replay_speed` if it is given. Raises ConfigError before any request is sent.
        """
        recordings = self.take_recordings(subjects, replay_speed)
        others = {each.name: self._take(each) for each in subjects if each.name not in recordings}
        return reopen_all({**recordings, **others})

    def take_recordings(self, subjects: Sequence[Subject], replay_speed: float | None = None) -> dict[str, Provider]:
        """Return the providers of those subjects that replay recorded answers, by subject name.

        Blocks while the recorded runs are read. Raises ConfigError and StoreError.
        """
        speed = replay_speed or self._replay_speed
        return {each.name: self._take_recording(each, speed) for each in subjects if self._is_recording(each)}

    def name_run(self, subject: Subject) -> Subject:
        """Return the subject with the full id of the run whose recorded answers it replays, if there is such a run.

        `last` and a prefix name another run later, when the run that replays them is continued.
        """
        if not self._is_recording(subject) or self._store is None:
            return subject
        run, slash, model = subject.model_id.partition("/")
        try:
            return replace(subject, model_id=f"{self._store.find_run(run)}{slash}{model}")
        except StoreError:
            return subject  # reported when the provider is opened

    def by_name(self, name: str) -> Provider:
        """Return a provider by its name. Raises ConfigError."""
        subject = Subject(name, name, "")
        if self._is_recording(subject):
            return self._take_recording(subject, self._replay_speed)
        return self._take(subject)

    async def close(self) -> None:
        """Close all providers and stop their processes."""
        while self._open:
            _, provider = self._open.popitem()
            await provider.close()
        while self._replaced:
            await self._replaced.pop().close()

    def _is_recording(self, subject: Subject) -> bool:
        return provider_settings(subject.provider, self._config, self._environ).kind == "replay"

    def _take(self, subject: Subject) -> Provider:
        settings = provider_settings(subject.provider, self._config, self._environ)
        url = subject.model_id
        if settings.kind == "agent" and url.startswith(AGENT_URLS) and (wrong := agent_url_fault(url)):
            raise ConfigError(f"The agent's URL {show_url(url)} {wrong}", fix="Start a new run with --agent.")
        if subject.provider not in self._open:
            self._kinds[subject.provider] = settings.kind
            self._open[subject.provider] = open_provider(settings, self._environ, self._config.secrets.values())
        return self._open[subject.provider]

    def _take_recording(self, subject: Subject, speed: float | None) -> Provider:
        """Return the provider for `replay/RUN/MODEL`; RUN may be a unique prefix of an id, or `last`."""
        from tui.providers.replay import ReplayProvider, recordings_of

        # A recorded model's own name may have settings in it, which are no settings of the recording.
        written = subject.name.removeprefix(REPLAY) if is_replay_name(subject.name) else subject.model_id
        run, _, model = written.partition("/")
        if _RUN.fullmatch(named := subject.model_id.partition("/")[0]):
            run = named
        if self._store is None:
            raise ConfigError(f"{subject.name}: the run history is not open")
        run_id = self._store.find_run(run)
        by_name = {each.name: each for each in self._store.read_setup(run_id).subjects}
        models = tuple(by_name)
        if not model and len(models) == 1:
            model = models[0]
        if model not in models:
            raise ConfigError(
                f"{subject.name}: the run has no answers of {model or 'no model'}",
                fix=f"Use replay/{run}/MODEL with one of {', '.join(models)}.",
            )
        # Read for each run that begins: the recorded one may have new results since, also from another program.
        recordings = recordings_of(self._store.read_recordings(run_id, model), by_name[model])
        return ReplayProvider(recordings, run_id, speed)


_SERVED = ("openai", "anthropic")


class PriceBook:
    """Prices of models, each looked up once. Recorded answers have no price: replaying costs nothing."""

    def __init__(self, config: Config, environ: Mapping[str, str]) -> None:
        self._config, self._environ = config, environ
        self._known: dict[Listed, Price | None] = {}

    def add_prices(self, subjects: Sequence[Subject]) -> tuple[Subject, ...]:
        """Return the subjects with their prices; those that have a price stay as they are. Blocks during a look-up."""
        places = {subject.name: self._listing(subject) for subject in subjects}
        unknown = [place for place in dict.fromkeys(places.values()) if place and place not in self._known]
        if unknown:
            self._known |= look_up(unknown, without_keys(self._environ, self._config.secrets.values()))
        return tuple(
            replace(subject, price=subject.price or self._price(subject, places[subject.name])) for subject in subjects
        )

    def _price(self, subject: Subject, place: Listed | None) -> Price | None:
        return self._configured_price(subject) or (self._known[place] if place else None)

    def _configured_price(self, subject: Subject) -> Price | None:
        """Return the price in the config: by the name as written, without settings, with its provider, or alone."""
        if self._kind(subject) == "replay":
            return None
        written = subject.name.partition("?")[0]
        names = (subject.name, written, f"{subject.provider}/{subject.model_id}", subject.model_id)
        return next((self._config.prices[name] for name in names if name in self._config.prices), None)

    def _listing(self, subject: Subject) -> Listed | None:
        """Return where the price package lists the model."""
        settings = provider_settings(subject.provider, self._config, self._environ)
        if settings.kind not in _SERVED or not may_be_listed(settings.base_url):
            return None
        if subject.price or self._configured_price(subject):
            return None
        return Listed(settings.base_url or "", subject.model_id)

    def _kind(self, subject: Subject) -> str:
        return provider_settings(subject.provider, self._config, self._environ).kind
