"""What a person changes while a run goes on becomes events, and the providers learn how much they may be asked."""

from collections.abc import Sequence

from tui.model.events import LimitMoved, RunPaused, RunResumed
from tui.model.run import Plan
from tui.providers.protocol import Limits
from tui.runner.control import Control
from tui.runner.outbox import Outbox
from tui.runner.trial_context import Tools


class Pacing:
    """A provider may be asked as many questions at once as the models that are asked of it now have cases at once."""

    def __init__(self, plan: Plan, tools: Tools, control: Control, outbox: Outbox) -> None:
        self._plan, self._tools, self._control, self._outbox = plan, tools, control, outbox
        self._provider_of = {subject.name: subject.provider for subject in plan.subjects}
        self._models: Sequence[str] = ()
        self._most: dict[str, int] = {}

    def begin(self, models: Sequence[str]) -> None:
        """These models are asked from now on."""
        self._models = models
        self._allow()

    async def follow(self) -> None:
        """Never ends."""
        held = False
        while True:
            if self._control.is_held != held:
                held = not held
                self._outbox.tell(RunPaused() if held else RunResumed())
            self._allow()
            await self._control.wish()

    def _allow(self) -> None:
        wanted: dict[str, int] = {}
        for model in self._models:
            name = self._provider_of[model]
            wanted[name] = wanted.get(name, 0) + self._control.at_once(model, self._plan.options.concurrency)
        for name, most in wanted.items():
            known = self._most.get(name)
            if most != known:
                self._most[name] = most
                limit = self._limit(name, most)
                # One at a time is nothing to tell of, as long as it was never anything else.
                if most > 1 or known is not None:
                    self._outbox.tell(LimitMoved(name, limit, most))

    def _limit(self, name: str, most: int) -> int:
        """The least that one of the providers of that name wants to be asked at once."""
        models = [model for model in self._models if self._provider_of[model] == name]
        asked = {id(provider): provider for provider in (self._tools.providers[model] for model in models)}
        return min((provider.allow(most) for provider in asked.values() if isinstance(provider, Limits)), default=most)
