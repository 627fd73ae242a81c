"""The session: all that a front end works with, opened once (config, secrets, history, providers, checker)."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from tui.checks.backtracking import PatternWarnings
from tui.checks.checker import Checker
from tui.checks.patterns import pattern_error
from tui.config.folders import find_folders, find_project_file
from tui.config.load import load_config
from tui.model.context import wants_context
from tui.model.current_folder import absolute_path, real_path
from tui.model.errors import ConfigError, Problem, ProviderError, StoreError
from tui.model.events import ContextRead, Event, RepositoryCloned
from tui.model.interpreters import find_interpreter, interpreter_fault
from tui.model.results import TrialKey
from tui.model.run import COMMIT, Plan
from tui.model.sanitize import sanitize_line
from tui.model.secrets import Secrets
from tui.model.servers import agent_name, agent_url_fault, show_url
from tui.model.subjects import AGENT_COMMAND, AGENT_URLS, Config, ProviderKind, Subject, is_replay_name
from tui.model.suite import Case, Suite
from tui.providers.local_models import find_model
from tui.providers.protocol import Provider
from tui.providers.registry import provider_settings, resolve_subject
from tui.runner.control import Control
from tui.runner.plan import Overrides, make_plan
from tui.runner.run import run_plan
from tui.runner.trial_context import TrialContext
from tui.session.consent import Consent, ConsentRecord, agent_consents, data_consent
from tui.session.context import RunRepository, hide_secrets, plan_context, read_context, secrets_of, without_secrets
from tui.session.open_history import open_store
from tui.session.pane_sizes import PaneSizes
from tui.session.provenance import Digests, versions_of
from tui.session.providers import OpenProviders, PriceBook, reopen_all
from tui.session.recorded_cases import LatestResults, RecordedCases
from tui.session.records import is_finished
from tui.session.reviews import Reviews
from tui.session.run_history import RunHistory, later_run_id
from tui.session.store_writer import RetryLimits, store_events
from tui.suites.load import Loaded, find_suites, load_suite

if TYPE_CHECKING:
    from tui.session.check_edits import CheckEdits
    from tui.session.context_previews import ContextPreviews
    from tui.session.model_catalog import ModelCatalog
    from tui.session.saved_filters import SavedFilters
    from tui.session.settings import ConfigSettings

_CHECK_PYTHON = "Check --agent-python, or agent.python in the suite."


def agent_subject(written: str, folder: Path, python: str | None = None) -> Subject:
    """Return the subject for an agent: `FILE.py` (relative to the folder), `cmd:COMMAND ARG…` or `http://…`.

    `python` is the interpreter of a file, or the folder of its virtual environment, relative to the folder too. Raises
    ConfigError for a missing file or interpreter, a faulty URL, and any other form. A key in the query of a URL is not
    in the subject's name, which is displayed and stored.
    """
    if python is not None and written.startswith((*AGENT_URLS, AGENT_COMMAND)):
        raise ConfigError(
            f"--agent-python is for Python files, and the agent is {show_url(written)}",
            fix="Remove it, or select a .py file with --agent.",
        )
    if written.startswith(AGENT_URLS):
        if wrong := agent_url_fault(written):
            raise ConfigError(f"The agent's URL {show_url(written)} {wrong}", fix="Use http://HOST:PORT/PATH.")
        return Subject(agent_name(written), "agent", written, how="an agent's HTTP endpoint")
    if written.startswith(AGENT_COMMAND):
        if not written.removeprefix(AGENT_COMMAND).strip():
            raise ConfigError("The agent command is empty", fix="Use cmd:COMMAND ARG….")
        return Subject(written, "agent", written, how="an agent's command")
    file = folder / written
    if file.suffix != ".py":
        raise ConfigError(f"{show_url(written)} is not an agent", fix="Use FILE.py, 'cmd:COMMAND ARG…' or http://….")
    if not file.is_file():
        raise ConfigError(
            "The agent file does not exist", where=str(file), fix="Check --agent, or agent: in the suite."
        )
    interpreter = "" if python is None else find_interpreter(python, folder)
    if python is not None and (fault := interpreter_fault(interpreter)):
        raise ConfigError(f"The Python of the agent {fault}", where=interpreter, fix=_CHECK_PYTHON)
    how = f"an agent's Python file, run by {interpreter}" if interpreter else "an agent's Python file"
    return Subject(written, "agent", real_path(file), how=how, python=interpreter)


def open_suite(
    path: Path,
    *,
    clone: bool = False,
    repository: Path | None = None,
    unlisted: Mapping[str, str] = MappingProxyType({}),
    may_read: Callable[[Path], bool] = lambda _: False,
) -> Loaded:
    """Load a suite with all its problems, which include an unexpected exception: it must not end the app.

    `clone` and `repository` say that the command line names a repository to clone, or a folder to read in place of
    the suite's own; `unlisted` maps models that no provider offers to their warnings. `may_read` returns whether a data
    file outside the suite's folder may be read.
    """
    try:
        loaded = load_suite(
            path,
            pattern_error,
            clone=clone,
            repository=repository,
            unlisted=unlisted,
            pattern_warning=PatternWarnings().warning,
            may_read=may_read,
        )
    except Exception as error:  # noqa: BLE001 one bad file must not end the app
        what = f"cannot be read: {type(error).__name__}: {sanitize_line(str(error))}; please report this error"
        return Loaded(None, (Problem(str(path), None, None, "error", "file", what),))
    if loaded.suite is None:
        return loaded
    return replace(loaded, suite=replace(loaded.suite, folder=str(absolute_path(path).parent)))


def unchecked_problem(suite: Suite) -> Problem | None:
    """Return a warning, placed at the first case, if a suite checks nothing."""
    if any(case.is_checked for case in suite.cases):
        return None
    if suite.format == "testhaven":
        where, keys = "steps", "`assert` or `expected`"
    else:
        where, keys = "testCases", "`expectedPatterns` or `forbiddenPatterns`"
    what = f"no case has a check, so every answer will be `unchecked`; add {keys}, or score the answers in Review"
    return Problem(suite.path, suite.cases[0].line, 1, "warning", where, what)


def list_suite_files(path: Path) -> list[Path]:
    """Return the file itself, or every suite file below a folder."""
    return find_suites(path) if path.is_dir() else [path]


_FOR_EVER = RetryLimits()
_WITHOUT_TOOLS: Mapping[ProviderKind, str] = {"local": "the local model", "copilot": "GitHub Copilot"}


class Session:
    """The services of one process, opened once.

    Keys and folders are looked up in `environ`. Recorded answers are replayed at `replay_speed` times the original
    speed, or without delays, unless a plan says otherwise. Construction raises ConfigError and StoreError. Methods
    that may block are not async: an app calls them in a thread.
    """

    def __init__(self, environ: Mapping[str, str], replay_speed: float | None = None) -> None:
        self._environ = environ
        self.folders = find_folders(environ)
        self.config = load_config(self.folders.config, environ, find_project_file())
        self.secrets = Secrets(self.config.secrets.values())
        self.store = open_store(self.folders)
        self.pane_sizes = PaneSizes(self.folders.data / "pane-sizes.json")
        self._consents = ConsentRecord(self.folders.data / "consents.json")
        self._providers = OpenProviders(self.config, environ, self.store, replay_speed)
        self._checker = Checker(self.secrets)
        self._taken: dict[str, dict[str, Provider]] = {}
        self._begun: str | None = None
        self._prices = PriceBook(self.config, environ)
        self.reviews = Reviews(self.store, self.folders.data, self.config)
        self.history = RunHistory(
            self.store, self.folders.data, lambda names: self.price(self.resolve(names)), self.reviews
        )

    @cached_property
    def check_edits(self) -> "CheckEdits":
        """Edits of the checks and cases in suite files."""
        from tui.session.check_edits import CheckEdits  # on first use: the start needs no editing

        return CheckEdits(self.store, self.secrets)

    @cached_property
    def catalog(self) -> "ModelCatalog":
        """The providers with their models, and the models that were chosen for each suite."""
        from tui.session.model_catalog import ModelCatalog

        return ModelCatalog(self.folders, self._environ, self.config, self._use_config)

    @cached_property
    def settings(self) -> "ConfigSettings":
        """The settings of the config file, to display and to change."""
        from tui.session.config_file import ConfigFile
        from tui.session.settings import ConfigSettings

        project = Path(self.config.project) if self.config.project else None
        return ConfigSettings(ConfigFile(self.folders, self._environ, project), self._environ, self._use_config)

    @cached_property
    def filters(self) -> "SavedFilters":
        """The filters that were saved under a name."""
        from tui.session.saved_filters import SavedFilters

        return SavedFilters(self.folders.data / "filters.json")

    def _use_config(self, config: Config) -> None:
        """Use a config that has changed from now on."""
        self.config = config
        self.secrets.add(config.secrets.values())
        self._providers.use_config(config)
        self._prices = PriceBook(config, self._environ)
        self.reviews.replace_config(config)
        self.catalog.replace_config(config)

    @cached_property
    def context_previews(self) -> "ContextPreviews":
        """The files that prompts will contain, before a run."""
        from tui.session.context_previews import ContextPreviews

        return ContextPreviews(self._may_read, lambda: self.secrets)

    def _may_read(self, suite: Suite) -> bool:
        return not any(consent.kind == "outside" for consent in self.missing_consents(suite))

    @property
    def notices(self) -> tuple[str, ...]:
        """Messages that the user should see first: about the config, then about the history and the filters."""
        warnings = (str(problem) for problem in self.config.warnings)
        return (*warnings, *self.store.notices, *self.filters.notices)

    def find_suites(self, paths: Sequence[Path]) -> list[Path]:
        """Return the suite files at or below the paths. Raises SuiteError for a path that does not exist."""
        return [file for path in paths for file in list_suite_files(path)]

    def open_suite(self, path: Path) -> Loaded:
        """Load a suite with all its problems; it reads the data files outside its folder that the user has allowed."""
        return open_suite(path, may_read=lambda file: self._consents.is_granted(data_consent(path, file)))

    def resolve(self, names: Sequence[str]) -> tuple[Subject, ...]:
        """Resolve model names to subjects. Raises ConfigError for the first that cannot be resolved."""
        found = (resolve_subject(name, self.config, self._environ) for name in names)
        return tuple(map(self._providers.name_run, found))

    def subjects_of(self, suite: Suite, names: Sequence[str] = (), agent: Subject | None = None) -> tuple[Subject, ...]:
        """Return the subjects to run: the named models and the agent, else those of the suite. Raises ConfigError."""
        if names or agent:
            return (*self.resolve(names), *((agent,) if agent else ()))
        if suite.agent:
            return (agent_subject(suite.agent, suite.home, suite.agent_python),)
        if not suite.models:
            raise ConfigError(
                "The suite has no models", where=suite.path, fix="Pass models with -m, or an agent with --agent."
            )
        return self.resolve(suite.models)

    def price(self, subjects: Sequence[Subject]) -> tuple[Subject, ...]:
        """Return the subjects of a new run with their token prices. Blocks."""
        return self._prices.add_prices(subjects)

    def provider(self, name: str) -> Provider:
        """Return a provider by its name, for example to list its models. Raises ConfigError."""
        return self._providers.by_name(name)

    def open_providers(self, subjects: Sequence[Subject]) -> None:
        """Check that every model can be run, without sending a request or starting a process.

        Raises ConfigError, also for a local model that is not installed.
        """
        self._providers.take(subjects)
        for subject in subjects:
            if provider_settings(subject.provider, self.config, self._environ).kind == "local":
                try:
                    find_model(subject.model_id)
                except ProviderError as error:
                    raise ConfigError(error.what, where=subject.name, fix=error.fix) from error

    def tools_fault(self, subject: Subject, cases: Iterable[Case]) -> ConfigError | None:
        """Return why the subject cannot run these cases if some of them offer tools, or None."""
        called = _WITHOUT_TOOLS.get(provider_settings(subject.provider, self.config, self._environ).kind)
        offering = [case.id for case in cases if case.tools] if called else []
        if not offering:
            return None
        listed = ", ".join(offering[:3]) + ("" if len(offering) <= 3 else f" and {len(offering) - 3} more")
        what = f"{called} does not support tools, which these cases offer: {listed}"
        return ConfigError(what, where=subject.name, fix="Select another model, or cases without tools.")

    def check_tools(self, plan: Plan) -> None:
        """Raise ConfigError for the first model that cannot run the cases of a plan because they offer tools."""
        offering = [case for case in plan.suite.cases if case.tools]
        for subject in plan.subjects if offering else ():
            asked = {trial.case for trial in plan.trials if trial.model == subject.name}
            if fault := self.tools_fault(subject, (case for case in offering if case.id in asked)):
                raise fault

    async def check_interpreters(self, subjects: Sequence[Subject]) -> None:
        """Start the interpreters of agents once, which must have been allowed. Raises ConfigError for one that is no
        Python, or one that is too old."""
        from tui.model.environ import without_keys
        from tui.providers.agents.interpreter import running_fault

        environ = without_keys(self._environ, self.config.secrets.values())
        for python in dict.fromkeys(subject.python for subject in subjects if subject.python):
            if fault := await running_fault(python, environ):
                raise ConfigError(f"The Python of the agent {fault}", where=python, fix=_CHECK_PYTHON)

    def make_plan(
        self,
        suite: Suite,
        subjects: Sequence[Subject],
        *,
        trials: Sequence[TrialKey] | None = None,
        stream: bool | None = None,
    ) -> Plan:
        """Return a plan for the app, with as many repeats as the trials have; it streams unless the suite or the user
        says otherwise. Blocks."""
        repeats = max((trial.repeat for trial in trials or ()), default=1)
        overrides = Overrides(repeats=repeats, streaming=stream, stream_by_default=True)
        return make_plan(suite, self.price(subjects), overrides, only=trials, run_id=later_run_id(self.store))

    async def begin(self, plans: Sequence[Plan]) -> None:
        """Store plans that will run one after the other, so that all of them can be resumed after a crash.

        Raises ConfigError and StoreError.
        """
        # Opened before any plan is stored: `last` may name the run whose answers are replayed.
        taken = {
            plan.run_id: self._providers.take(plan.subjects, plan.options.replay_speed) for plan in plans if plan.trials
        }
        for plan in plans:
            if plan.trials:
                await asyncio.to_thread(self._begin, plan, self._secrets_of(plan))
        self._taken.update(taken)
        self._begun = plans[0].run_id if plans else None

    async def run(self, plan: Plan, control: Control, patience: RetryLimits = _FOR_EVER) -> AsyncGenerator[Event, None]:
        """Run the plan and yield each event after it is stored.

        A stored run with nothing left to run stays as it ended. Raises ConfigError before it begins, and StoreError
        if the history cannot be written for longer than `patience` allows.
        """
        if not plan.trials and await asyncio.to_thread(is_finished, self.store, plan.run_id):
            return
        taken = self._taken.pop(plan.run_id, None)
        providers = await self._take_providers(plan) if taken is None else reopen_all(taken)
        secrets = self._secrets_of(plan)
        # A plan that waited for others begins again here, so that its duration counts from now.
        if taken is None or plan.run_id != self._begun:
            await asyncio.to_thread(self._begin, plan, secrets)
        repository = RunRepository(plan.suite, self._environ, self.config.secrets.values())
        try:
            if plan.trials:
                async for progress in repository.open(control):
                    if isinstance(progress, RepositoryCloned):
                        progress = await asyncio.to_thread(self._record_commit, plan.run_id, progress)
                    yield hide_secrets(progress, secrets)
            context = await read_context(plan.suite, repository.clone, repository.fault, control)
            if plan.trials and wants_context(plan.suite):
                yield ContextRead(await plan_context(plan, context, secrets, control, self.store))
            changes = repository if plan.suite.repo_clone is not None else None
            tools = TrialContext(providers, self._checker, context, secrets, changes, repository)
            async with aclosing(run_plan(plan, tools, control)) as batches:
                is_rerun = bool(plan.trials) and plan.earlier.keys() >= set(plan.trials)
                stored = store_events(batches, self.store, plan.run_id, patience, control, is_rerun=is_rerun)
                async for event in stored:
                    yield event
        finally:
            await repository.close()

    async def _take_providers(self, plan: Plan) -> dict[str, Provider]:
        self.check_tools(plan)
        await asyncio.to_thread(self._providers.import_modules, plan.subjects)
        # Thousands of recorded answers take seconds to read.
        speed = plan.options.replay_speed
        recordings = await asyncio.to_thread(self._providers.take_recordings, plan.subjects, speed)
        others = [each for each in plan.subjects if each.name not in recordings]
        return {**recordings, **self._providers.take(others)}

    def _begin(self, plan: Plan, secrets: Secrets) -> None:
        versions: dict[str, str] = {}
        if plan.trials:
            providers = {subject.provider for subject in plan.subjects}
            kinds = {name: provider_settings(name, self.config, self._environ).kind for name in providers}
            versions = versions_of(plan, kinds, Digests(self.folders.cache))
        recorded = {secrets.hide(name): secrets.hide(version) for name, version in versions.items()}
        started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.store.begin_run(without_secrets(plan, secrets), started_at, recorded)

    def _record_commit(self, run_id: str, cloned: RepositoryCloned) -> RepositoryCloned:
        """Store the commit of a clone with the run; if the run began with another one, return a note about that."""
        with suppress(StoreError):  # then no result can be stored either, which is reported
            before = self.store.read_setup(run_id).versions.get(COMMIT, cloned.commit)
            self.store.add_versions(run_id, {COMMIT: cloned.commit})
            if not before.endswith(cloned.commit):
                note = f"The run began with another commit: {before}; now it is {cloned.commit}."
                return replace(cloned, notes=(*cloned.notes, note))
        return cloned

    def _secrets_of(self, plan: Plan) -> Secrets:
        own = secrets_of(plan)
        return self.secrets.extended(own) if own else self.secrets

    def latest_results(self, suite: Suite) -> LatestResults:
        """Return the newest stored results of the suite, with the cases as they were run.

        Recorded answers that were replayed or judged again are left out, unless the suite names such a model: they are
        not further answers. Raises StoreError.
        """
        recorded = RecordedCases(self.store, suite)
        found = [
            (run, result)
            for run, result in self.store.latest_results(suite.path)
            if not is_replay_name(result.trial.model) or result.trial.model in suite.models
        ]
        cases = {result.trial: recorded.case(run, result.trial.case) for run, result in found}
        return LatestResults(
            tuple(result for _, result in found),
            {trial: case for trial, case in cases.items() if case is not None},
            {result.trial: run for run, result in found},
            frozenset(run for run, _ in found) - recorded.finished,
            {result.trial: recorded.definition(run, result.trial.model) for run, result in found},
        )

    def changed_suites(self, after: int) -> tuple[int, frozenset[str]]:
        """Return the number of the newest stored result, and the files of suites with results of greater numbers.

        Raises StoreError.
        """
        return self.store.changed_suites(after)

    def missing_consents(
        self, suite: Suite, subjects: Sequence[Subject] = (), *, saved: bool = False
    ) -> tuple[Consent, ...]:
        """Return the consents that a run of the suite with these subjects needs and that have not been granted yet.

        `saved` says that the suite is that of a saved run: its file is read again.
        """
        file = suite.home / Path(suite.path).name

        def read_again() -> Suite | None:
            # As with a clone, files that cases name may be missing: they are sent as they were recorded.
            return self.open_suite(file).suite or open_suite(file, clone=True).suite

        return self._consents.missing(suite, subjects, read_again=read_again if saved else None)

    def allow_agents(self, suite: Suite, subjects: Sequence[Subject]) -> None:
        """Grant the consents for agents that the user named, so that the run can be continued without them.

        Raises StoreError.
        """
        for consent in agent_consents(suite, subjects):
            self._consents.grant(consent)

    def allow(self, consent: Consent) -> None:
        """Grant a consent and store it."""
        self._consents.grant(consent)

    async def close(self) -> None:
        """Close processes, connections and files."""
        await self._providers.close()
        await self._checker.close()
        self.store.close()
