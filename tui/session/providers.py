"""Providers, opened once and shared by all runs of this process."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tui.model.errors import ConfigError
from tui.model.prices import Price
from tui.model.subjects import Config, Subject
from tui.providers.prices import Listed, look_up, may_be_listed
from tui.providers.protocol import Provider, Reopens
from tui.providers.registry import open_provider, provider_settings
from tui.store.protocol import Store


def reopened(providers: dict[str, Provider]) -> dict[str, Provider]:
    """The same; those that a refused key had closed can be asked again."""
    for provider in providers.values():
        if isinstance(provider, Reopens):
            provider.reopen()
    return providers


class OpenProviders:
    """Hands out the provider of a subject. A recorded run is a provider of its own, which needs a store; every other is
    shared, so that its limits (a refused key, a pause after 429) hold for all that ask it."""

    def __init__(
        self, config: Config, environ: Mapping[str, str], store: Store | None, replay_speed: float | None
    ) -> None:
        self._config, self._environ, self._store = config, environ, store
        self._replay_speed = replay_speed
        self._open: dict[str, Provider] = {}

    def take(self, subjects: Sequence[Subject], replay_speed: float | None = None) -> dict[str, Provider]:
        """The providers by subject name, for a run that begins; recorded answers at that speed, where one is wanted.
        Raises ConfigError before anything is asked."""
        speed = replay_speed or self._replay_speed
        return reopened({subject.name: self._take(subject, speed) for subject in subjects})

    def of_name(self, name: str) -> Provider:
        """A provider by its own name. Raises ConfigError."""
        return self._take(Subject(name, name, ""), self._replay_speed)

    async def close(self) -> None:
        """Stop everything that was started."""
        while self._open:
            _, provider = self._open.popitem()
            await provider.close()

    def _take(self, subject: Subject, replay_speed: float | None) -> Provider:
        settings = provider_settings(subject.provider, self._config, self._environ)
        if settings.kind == "replay":
            return self._take_recording(subject, replay_speed)
        if subject.provider not in self._open:
            self._open[subject.provider] = open_provider(settings, self._environ, self._config.secrets.values())
        return self._open[subject.provider]

    def _take_recording(self, subject: Subject, speed: float | None) -> Provider:
        """`replay/RUN/MODEL`; the run may be shortened, or `last`."""
        from tui.providers.replay import ReplayProvider, recordings_of

        # A recorded model's own name may have settings in it, which are no settings of the recording.
        written = subject.name.removeprefix("replay/") if subject.name.startswith("replay/") else subject.model_id
        run, _, model = written.partition("/")
        if self._store is None:
            raise ConfigError(f"{subject.name}: the run history is not open")
        run_id = self._store.find_run(run)
        kept = self._store.read_run(run_id)
        models = kept.record.models
        if not model and len(models) == 1:
            model = models[0]
        if model not in models:
            raise ConfigError(
                f"{subject.name}: the run has no answers of {model or 'no model'}",
                fix=f"Write replay/{run}/MODEL with one of {', '.join(models)}.",
            )
        key = f"replay/{run_id}/{model} at {speed}"
        if key not in self._open:
            recordings = recordings_of(self._store.read_recordings(run_id, model), model)
            self._open[key] = ReplayProvider(recordings, run_id, speed)
        return self._open[key]


_SERVED = ("openai", "anthropic")


class PriceBook:
    """Looks each model up once. Recorded answers cost nothing a second time, so that they have no price."""

    def __init__(self, config: Config, environ: Mapping[str, str]) -> None:
        self._config, self._environ = config, environ
        self._known: dict[Listed, Price | None] = {}

    def lay_over(self, subjects: Sequence[Subject]) -> tuple[Subject, ...]:
        """The subjects with their prices, those that have one as they are. Blocks where one has to be looked up."""
        places = {subject.name: self._place(subject) for subject in subjects}
        unknown = [place for place in dict.fromkeys(places.values()) if place and place not in self._known]
        if unknown:
            self._known |= look_up(unknown, self._environ)
        return tuple(
            replace(subject, price=subject.price or self._price(subject, places[subject.name])) for subject in subjects
        )

    def _price(self, subject: Subject, place: Listed | None) -> Price | None:
        return self._own(subject) or (self._known[place] if place else None)

    def _own(self, subject: Subject) -> Price | None:
        """The config's: by the name as it was written, by that without settings, with its provider, alone."""
        if self._kind(subject) == "replay":
            return None
        written = subject.name.partition("?")[0]
        names = (subject.name, written, f"{subject.provider}/{subject.model_id}", subject.model_id)
        return next((self._config.prices[name] for name in names if name in self._config.prices), None)

    def _place(self, subject: Subject) -> Listed | None:
        """Where the package can be asked for it."""
        settings = provider_settings(subject.provider, self._config, self._environ)
        if settings.kind not in _SERVED or not may_be_listed(settings.base_url):
            return None
        if subject.price or self._own(subject):
            return None
        return Listed(settings.base_url or "", subject.model_id)

    def _kind(self, subject: Subject) -> str:
        return provider_settings(subject.provider, self._config, self._environ).kind
