"""The open suites, the state of their trials, and the selection. This module does not import textual."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from os.path import commonpath
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from tui.app.presentation.cells import NOT_RUN, cell_of
from tui.app.presentation.marks import counted_status, differs_by_rerun, status_of_all
from tui.app.presentation.model_faults import ModelFault
from tui.app.session_protocol import Session
from tui.model.current_folder import absolute_path, normal_path, real_path
from tui.model.errors import AssayError, Problem
from tui.model.filter import Filter, StatusWord
from tui.model.progress import TrialProgress
from tui.model.servers import model_names
from tui.model.state import RunState
from tui.model.suite import Case, Suite

MOST_PANES = 4
"""The panes that Explore displays at a time; further models are on further pages."""
MOST_MODELS = 32
"""The models that can be chosen for a suite."""
_MOST_SAVED_RUNS = 4

FileStamp = tuple[int, int]


class OpenSuite(NamedTuple):
    """A suite file, read or not yet, or a saved run that was opened beside the files.

    If the file has errors, `problems` lists them, and `suite` is its last version without errors (`outdated`), or None
    if there was none. `outside` are data files outside its folder that the user has not allowed. `run` is the id of the
    saved run that the suite and its results belong to, and `label` describes that run.
    """

    path: Path
    folder: str
    suite: Suite | None = None
    problems: tuple[Problem, ...] = ()
    read: bool = False
    run: str = ""
    label: str = ""
    outdated: bool = False
    outside: tuple[Path, ...] = ()

    @property
    def title(self) -> str:
        """Return the name to display: the label of the run, else the name of the suite, else that of the file."""
        return self.label or (self.suite.name if self.suite else self.path.name)

    @property
    def heading(self) -> str:
        """Return the name to display without a folder above it; for a saved run with its folder."""
        return f"{self.folder}: {self.label}" if self.label else self.title

    @property
    def broken(self) -> bool:
        """Return whether the file was read and has errors."""
        return self.read and (self.suite is None or self.outdated)

    @property
    def first_error(self) -> Problem | None:
        """Return the first error of a broken file."""
        return next((problem for problem in self.problems if problem.level == "error"), None) if self.broken else None

    def find_case(self, case_id: str | None) -> Case | None:
        """Return the case with this id."""
        return next((case for case in self.suite.cases if case.id == case_id), None) if self.suite else None

    def line_of(self, case: Case | None) -> int:
        """Return the line to edit: that of the first problem of a broken file, else that of the case, else 1."""
        if self.broken:
            return next((problem.line for problem in self.problems if problem.line), 1)
        return case.line or 1 if case is not None else 1


class CaseMarks(NamedTuple):
    """The status of each model of a case, and the number of its trials that a rerun judged differently."""

    statuses: Sequence[StatusWord]
    reruns: int = 0


class OpenSuites:
    """The open suite files in a stable order, then the open saved runs.

    `find`, `read` and `read_changed` block: call them in a thread, and `display` in the event loop afterwards.
    """

    def __init__(self, session: Session, paths: Sequence[Path]) -> None:
        self._session, self._paths = session, tuple(paths)
        self._files: dict[Path, OpenSuite] = {}
        self._saved_runs: dict[Path, OpenSuite] = {}
        self._states: dict[Path, RunState] = {}
        self._stamps: dict[Path, dict[Path, FileStamp | None]] = {}
        self._newest_result = 0

    @property
    def all(self) -> tuple[OpenSuite, ...]:
        """Return all open suites, saved runs last."""
        return (*self._files.values(), *self._saved_runs.values())

    def get(self, path: Path) -> OpenSuite | None:
        """Return the open suite at a path, or None."""
        return self._files.get(path) or self._saved_runs.get(path)

    def first_usable(self) -> OpenSuite | None:
        """Return the first suite file without errors."""
        return next((each for each in self._files.values() if each.suite is not None), None)

    def state(self, path: Path) -> RunState:
        """Return the state of the trials of a suite; an empty one if none is known."""
        state = self._states.get(path)
        if state is None:
            state = self._states[path] = RunState()
        return state

    def add_saved_run(self, saved: OpenSuite, state: RunState) -> None:
        """Open a saved run as the last one, and close the oldest if too many are open."""
        self.remove_saved_run(saved.path)
        while len(self._saved_runs) >= _MOST_SAVED_RUNS:
            self.remove_saved_run(next(iter(self._saved_runs)))
        self._saved_runs[saved.path], self._states[saved.path] = saved, state

    def remove_saved_run(self, path: Path) -> None:
        """Close a saved run if it is open."""
        if self._saved_runs.pop(path, None) is not None:
            self._states.pop(path, None)

    def find(self) -> bool:
        """Find the suite files, and return whether the list has changed. Raises SuiteError for a missing path.

        A suite with a run in progress stays open without its file, and so do all if there is no suite file any more.
        """
        found = list(self._session.find_suites(self._paths))
        running = {path for path, state in self._states.copy().items() if state.running}
        found += [path for path in self._files if path not in found and (not found or path in running)]
        if list(self._files) == found:
            return False
        folders = _folder_names(found)
        self._files = {
            path: self._files.get(path, OpenSuite(path, folder))._replace(folder=folder)
            for path, folder in zip(found, folders, strict=True)
        }
        return True

    def read(self, path: Path) -> OpenSuite:
        """Read a suite file, and on the first read also the latest stored results of its trials.

        While the file has errors, its last version without errors stays open. A file that `find` did not find is read,
        such as that of a form, and not opened.
        """
        stamps = {each: _stamp(each) for each in (path, *self._stamps.get(path, ()))}
        before = self._files.get(path, OpenSuite(path, ""))
        loaded = self._session.open_suite(path)
        files = (path, *(path.parent / name for name in loaded.data_files))
        self._stamps[path] = {each: stamps[each] if each in stamps else _stamp(each) for each in files}
        problems = loaded.problems
        known = self._states.get(path)
        # Whoever displays a file with errors asks for its state, which then has no results yet.
        if loaded.suite is not None and (known is None or known.is_blank):
            state = RunState()
            try:
                state = self._read_results(loaded.suite)
            except Exception as error:  # noqa: BLE001 one bad history must not end the app
                what = str(error) if isinstance(error, AssayError) else f"{type(error).__name__}: {error}"
                problems = (*problems, Problem(str(path), None, None, "warning", "earlier results", what))
            known = self._states.get(path)
            if known is None or (known.is_blank and not state.is_blank):
                self._states[path] = state
        outdated = loaded.suite is None and before.suite is not None
        suite = before.suite if outdated else loaded.suite
        read = before._replace(suite=suite, problems=problems, read=True, outdated=outdated, outside=loaded.outside)
        if path in self._files:
            self._files[path] = read
        return read

    def read_changed(self) -> tuple[Path, ...]:
        """Read the files that have changed on disk since the last read, and return their paths."""
        changed = [
            path
            for path, stamps in self._stamps.items()
            if path in self._files and any(_stamp(file) != stamp for file, stamp in stamps.items())
        ]
        for path in changed:
            self.read(path)
        return tuple(changed)

    def _read_results(self, suite: Suite) -> RunState:
        state = RunState()
        state.display(suite)
        state.take_results(*self._session.latest_results(suite))
        return state

    def note_results(self) -> None:
        """Take the results that are saved now as those that `read_saved_results` knows. Blocks. Raises StoreError."""
        self._newest_result, _ = self._session.changed_suites(self._newest_result)

    def read_saved_results(self) -> dict[Path, RunState]:
        """Return the latest results of the suites for which some were saved since the last call or `note_results`.

        Another program may have saved them, or a saved run that was continued. Blocks. Raises StoreError.
        """
        self._newest_result, files = self._session.changed_suites(self._newest_result)
        return self.read_results(files) if files else {}

    def read_results(self, files: Collection[str]) -> dict[Path, RunState]:
        """Return the latest results of the suites in these files, without links, that were read, and their open runs.

        Blocks. Raises StoreError.
        """
        suites = {path: each.suite for path, each in self._files.items() if each.suite is not None}
        found = {path: self._read_results(suite) for path, suite in suites.items() if real_path(str(path)) in files}
        for path, each in self._saved_runs.copy().items():
            if each.run and each.suite is not None and real_path(each.suite.path) in files:
                found[path] = RunState()
                found[path].take_known(self._session.history.read_progress(each.run))
        return found

    def replace_state(self, path: Path, state: RunState) -> bool:
        """Display other results for a suite file or saved run. Return False if they are those that are displayed."""
        if path in self._saved_runs:
            return self.state(path).take_changed(state.trials)
        if state.has_results_of(self.state(path)):
            return False
        self._states[path] = state
        return True

    def display(self, paths: Iterable[Path]) -> None:
        """Display the results that belong to the suites as they were read last."""
        for path in paths:
            read = self._files.get(path)
            if read is not None and read.suite is not None:
                self.state(path).display(read.suite)


class Selection:
    """The selected suite and case, the models displayed for each suite, the filter and the streaming option.

    `streaming` None means the setting of the suite. `model_errors` has a message for each model of the selected suite
    that cannot be resolved. `first_model` is the index of the first model of the displayed page. `remembered` are the
    models that were chosen earlier, by the absolute path of the suite.
    """

    def __init__(
        self, open_suites: OpenSuites, remembered: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    ) -> None:
        self.open_suites = open_suites
        self.path: Path | None = None
        self.case_id: str | None = None
        self.first_model = 0
        self.filter = Filter()
        self.streaming: bool | None = None
        self.model_errors: dict[str, ModelFault] = {}
        self._models: dict[Path, tuple[str, ...]] = {}
        self._remembered, self._looked_up = remembered, set[Path]()
        self._indexed: Suite | None = None
        self._by_id: dict[str, Case] = {}

    @property
    def open_suite(self) -> OpenSuite | None:
        """Return the selected suite file or saved run."""
        return self.open_suites.get(self.path) if self.path else None

    @property
    def suite(self) -> Suite | None:
        """Return the selected suite; None if its file has errors."""
        return self.open_suite.suite if self.open_suite else None

    @property
    def run(self) -> str:
        """Return the id of the selected saved run, empty where a suite file or nothing is selected."""
        return self.open_suite.run if self.open_suite else ""

    @property
    def usable(self) -> OpenSuite | None:
        """Return the selected suite file or saved run, None where its suite cannot be used."""
        return self.open_suite if self.suite is not None else None

    @property
    def advice(self) -> str:
        """Return what to do where no usable suite is selected."""
        is_read = self.open_suite is not None and self.open_suite.read
        if is_read or all(each.read for each in self.open_suites.all):
            return "Select a suite."
        return "Wait until the suites are read."

    @property
    def state(self) -> RunState:
        """Return the state of the trials of the selected suite."""
        return self.open_suites.state(self.path) if self.path else RunState()

    @property
    def case(self) -> Case | None:
        """Return the selected case."""
        suite = self.suite
        if suite is None or self.case_id is None:
            return None
        if suite is not self._indexed:
            self._indexed, self._by_id = suite, {case.id: case for case in suite.cases}
        return self._by_id.get(self.case_id)

    @property
    def asked_case(self) -> Case | None:
        """Return the selected case with the prompt of its trials in progress, which its file may not have any more."""
        case = self.case
        if case is None:
            return None
        asked = (trial.case for model in self.page if (trial := self.trial(model)) is not None and trial.is_open)
        return next((each for each in asked if each is not None), case)

    def select(self, path: Path, case_id: str | None) -> bool:
        """Select a case of a suite, or the suite itself; return whether the suite has changed."""
        before, self.path, self.case_id = self.path, path, case_id
        if path != before:
            self.model_errors, self.first_model = {}, 0
        return path != before

    @property
    def models(self) -> tuple[str, ...]:
        """Return the models displayed for the selected suite; a pane displays one of them."""
        return self.models_of(self.path) if self.path else ()

    @property
    def page(self) -> tuple[str, ...]:
        """Return the models that Explore displays at a time."""
        return self.models[self.first_model : self.first_model + MOST_PANES]

    def models_of(self, path: Path) -> tuple[str, ...]:
        """Return the models displayed for a suite: the chosen ones, else its own."""
        if path not in self._looked_up:
            self._looked_up.add(path)
            if kept := self._remembered.get(normal_path(path)):
                self._models.setdefault(path, kept[:MOST_MODELS])
        return self._models.get(path) or self.own_models(path)

    def own_models(self, path: Path) -> tuple[str, ...]:
        """Return the agent of a suite, else its models."""
        open_suite = self.open_suites.get(path)
        if open_suite is None or open_suite.suite is None:
            return ()
        return model_names(open_suite.suite)[:MOST_MODELS]

    def choose_models(self, models: Sequence[str], path: Path | None = None) -> None:
        """Choose the models to display for a suite, by default for the selected one."""
        path = path or self.path
        if path is not None:
            self._models[path] = tuple(models)[:MOST_MODELS]
        if path == self.path:
            self.model_errors, self.first_model = {}, 0

    @property
    def streams(self) -> bool:
        """Return whether the next run of the selected suite streams its answers."""
        if self.streaming is not None:
            return self.streaming
        default = self.suite.options.streaming if self.suite else None
        return default is not False

    def trial(self, model: str) -> TrialProgress | None:
        """Return the progress of the selected case on a model."""
        return self.state.trial(self.case_id, model) if self.case_id else None

    def trials(self) -> tuple[TrialProgress | None, ...]:
        """Return the progress of the selected case on each displayed model."""
        return tuple(self.trial(model) for model in self.models)

    def repeats(self) -> tuple[TrialProgress, ...]:
        """Return the progress of all repeats of the selected case, model by model."""
        state, case = self.state, self.case_id
        return tuple(each for model in self.models for each in state.repeats(case, model)) if case else ()

    def statuses(self, path: Path, case: Case) -> Sequence[StatusWord]:
        """Return the status of a case on each displayed model."""
        return self.marks(path, case).statuses

    def marks(self, path: Path, case: Case) -> CaseMarks:
        """Return what the tree displays for a case: one status per model for all its repeats."""
        state = self.open_suites.state(path)
        if not state.has_trials(case.id):
            return _never_run(self.models_of(path)).marks
        if not state.has_repeats:  # one look-up per trial keeps suites with ten thousand cases fast
            trials = [state.trial(case.id, model) for model in self.models_of(path)]
            return CaseMarks([counted_status(trial) for trial in trials], sum(map(differs_by_rerun, trials)))
        repeats = [state.repeats(case.id, model) for model in self.models_of(path)]
        statuses = [status_of_all([counted_status(trial) for trial in trials] or ["not_run"]) for trials in repeats]
        return CaseMarks(statuses, sum(differs_by_rerun(trial) for trials in repeats for trial in trials))

    def matches_filter(self, path: Path, case: Case) -> bool:
        """Return whether the filter selects a case."""
        if not self.filter.needs_statuses:
            return self.filter.matches(case, {})
        models, state = self.models_of(path), self.open_suites.state(path)
        if not state.has_trials(case.id):
            never_run = _never_run(models)
            return self.filter.matches(case, never_run.statuses, never_run.shares)
        statuses = dict(zip(models, self.statuses(path, case), strict=True))
        return self.filter.matches(case, statuses, self._shares(path, case) if self.filter.needs_shares else None)

    def _shares(self, path: Path, case: Case) -> dict[str, float]:
        """Return the share of passed repeats of each model, counted as in the matrix."""
        state = self.open_suites.state(path)
        return {model: cell_of(state, case.id, model).share for model in self.models_of(path)}


class _NeverRun(NamedTuple):
    """What is displayed and filtered of a case that was never run: the same for all such cases of a suite."""

    marks: CaseMarks
    statuses: Mapping[str, StatusWord]
    shares: Mapping[str, float]


@lru_cache(maxsize=64)
def _never_run(models: tuple[str, ...]) -> _NeverRun:
    statuses = dict.fromkeys(models, NOT_RUN.status)
    return _NeverRun(CaseMarks([NOT_RUN.status] * len(models)), statuses, dict.fromkeys(models, NOT_RUN.share))


def _stamp(path: Path) -> FileStamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _folder_names(paths: Sequence[Path]) -> list[str]:
    """Return the folders of the files, as short as they remain distinct."""
    folders = [str(absolute_path(path).parent) for path in paths]  # a relative file, too, has a folder with a name
    if len(set(folders)) < 2:
        return [Path(folder).name for folder in folders]
    try:
        shared = commonpath(folders)
    except ValueError:  # different drives, or relative paths beside absolute ones
        return folders
    top = Path(Path(shared).name or shared)
    return [str(top / Path(folder).relative_to(shared)) for folder in folders]


class HeldAction:
    """An action that was requested before a suite is selected: it follows once the first suite has been read."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._action: Callable[[], None] | None = None

    def hold(self, action: Callable[[], None]) -> bool:
        """Hold an action if a suite is still being read, and return whether it has to wait."""
        is_read = self._selection.path is not None or all(each.read for each in self._selection.open_suites.all)
        if not is_read:
            self._action = action
        return not is_read

    def release(self) -> None:
        """Carry out the held action, if there is one."""
        action, self._action = self._action, None
        if action is not None:
            action()
