"""What the models of a run cost: as the config says, else as the package of prices does."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tui.model.prices import Price
from tui.model.subjects import Config, Subject
from tui.providers.prices import Listed, look_up, may_be_listed
from tui.providers.resolving import provider_settings

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
