"""Files that are sent along with a prompt, and a summary of them."""

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import itemgetter

from tui.model.prices import cost, dollars
from tui.model.results import LeftOutFile, Prompt, TrialKey, TrialResult, Usage
from tui.model.run import KeptRun
from tui.model.sanitize import sanitize_line
from tui.model.subjects import Subject, is_replay_name
from tui.model.suite import LineRange, Suite

FILE_SEPARATOR = "\n"
"""What separates the texts of two files in a prompt."""
_CHARACTERS_PER_TOKEN = 4
_MOST_REASONS, _MOST_NAMED, _MOST_FAULTS, _MOST_CASE_LINES = 12, 4, 5, 4


@dataclass(frozen=True, slots=True)
class ContextFile:
    """A text file that is sent along with a prompt; `lines` is the selected range, None for the whole file.

    Files with the same `place` are one file, whatever their paths are; None is unknown.
    """

    path: str
    content: str
    language: str | None = None
    lines: LineRange | None = None
    place: Hashable = field(default=None, compare=False)

    @property
    def size(self) -> int:
        """The size of the content in bytes of UTF-8."""
        return len(self.content.encode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class RepositoryFiles:
    """The files that were read from a folder, in path order, and the files that were left out, with the reasons.

    A path in `left_out` that ends with `/` is a folder: the reason then applies to all files in it. `warnings` are
    sentences about settings that select nothing. `seen` are the folders and files that the selection depends on.
    """

    files: tuple[ContextFile, ...] = ()
    left_out: tuple[LeftOutFile, ...] = ()
    warnings: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()


def estimated_tokens(characters: int) -> int:
    """Return about how many tokens a text has, at four characters a token."""
    return -(-characters // _CHARACTERS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class SentContext:
    """The files that were sent with the prompts of several cases.

    `files` and `characters` are the minimum and the maximum per prompt (characters include headings and code fences).
    `left_out` lists each file that was left out once.
    """

    files: tuple[int, int]
    characters: tuple[int, int]
    left_out: tuple[LeftOutFile, ...] = ()

    @property
    def tokens(self) -> tuple[int, int]:
        """The estimated minimum and maximum of tokens per prompt, at four characters a token."""
        least, most = map(estimated_tokens, self.characters)
        return least, most

    @property
    def words(self) -> str:
        """A summary: `12 files, 4,000–4,200 characters, about 1,000–1,050 tokens a prompt`, or `no file`."""
        if self.files == (0, 0):
            return "no file"
        files = f"{_span(self.files)} file{'' if self.files == (1, 1) else 's'}"
        return f"{files}, {_span(self.characters)} characters, about {_span(self.tokens)} tokens per prompt"

    @property
    def left_out_words(self) -> str:
        """The files left out, by reason, on one line: `is a link: a, b; is binary: c and 3 more`; empty if there are
        none."""
        by_reason: dict[str, list[str]] = {}
        for file in self.left_out:
            by_reason.setdefault(file.reason, []).append(file.path)
        parts = [f"{reason}: {_names(paths)}" for reason, paths in islice(by_reason.items(), _MOST_REASONS)]
        if more := len(by_reason) - len(parts):
            parts.append(f"{more:,} more reasons")
        return "; ".join(parts)


NOTHING_SENT = SentContext((0, 0), (0, 0))


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """What the first prompt of a case will contain.

    `characters` are those of all requests of one trial, as far as they are known: without the model's answers. `fault`
    says why the files of the case cannot be read; nothing is sent then. `recorded` says that its files have changed
    since its first trial and are sent as they were.
    """

    case: str
    sent: SentContext
    characters: int = 0
    fault: str = ""
    recorded: bool = False


@dataclass(frozen=True, slots=True)
class PlannedContext:
    """The files that will be sent with the prompts of some cases, with warnings about the settings that select them.

    `unread` is a clause that says when they will be known, if they are not yet. `from_repository` says that files of a
    repository should be among them.
    """

    cases: tuple[PlannedCase, ...] = ()
    warnings: tuple[str, ...] = ()
    unread: str = ""
    from_repository: bool = False

    @property
    def sent(self) -> SentContext | None:
        """The summary of all prompts, or None if no case can be sent."""
        return merge_sent(each.sent for each in self.cases if not each.fault)

    @property
    def faults(self) -> tuple[str, ...]:
        """One line for each case whose files cannot be read, the first few of them."""
        broken = [f"{each.case}: {sanitize_line(each.fault, 400)}" for each in self.cases if each.fault]
        more = f"{len(broken) - _MOST_FAULTS:,} more cases cannot be sent"
        return tuple(broken) if len(broken) <= _MOST_FAULTS + 1 else (*broken[:_MOST_FAULTS], more)

    @property
    def note(self) -> str:
        """A sentence about cases whose files are sent as they were recorded, empty if there are none."""
        cases = [each.case for each in self.cases if each.recorded]
        if not cases:
            return ""
        of = "1 case" if len(cases) == 1 else f"{len(cases):,} cases"
        return f"The files of {of} are sent as they were recorded, because they differ now: {_names(cases)}."

    @property
    def lines(self) -> tuple[str, ...]:
        """What the prompts contain, what was left out and why, and warnings: one line for all cases, and one for each
        of a few that differ."""
        if self.unread:
            return (f"Context: {self.unread}",)
        sent = self.sent
        lines: list[str] = []
        if sent is not None and sent.files[1]:
            lines.append(f"Context: {sent.words}")
        elif sent is not None and self.from_repository:
            lines.append("Warning: repositoryContext matches no file; check its path and filters")
        if sent is not None and sent.left_out:
            lines.append(f"Omitted: {sent.left_out_words}")
        different = {each.sent.files + each.sent.characters for each in self.cases if not each.fault}
        if len(different) > 1 and len(self.cases) <= _MOST_CASE_LINES:
            lines += [f"{each.case} · Context: {each.sent.words}" for each in self.cases if not each.fault]
        lines += [f"Note: {note}"] if (note := self.note) else []
        lines += [f"Warning: repositoryContext.{warning}" for warning in self.warnings]
        return (*lines, *(f"Warning: {fault}" for fault in self.faults))

    def input_tokens(self, trials: Iterable[TrialKey]) -> dict[str, int]:
        """Return about how many tokens the requests of some trials send, by model."""
        by_case = {each.case: estimated_tokens(each.characters) for each in self.cases}
        totals: Counter[str] = Counter()
        for trial in trials:
            totals[trial.model] += by_case.get(trial.case, 0)
        return dict(totals)


def input_cost_words(tokens: Mapping[str, int], subjects: Iterable[Subject]) -> str:
    """Return what the requests of a run cost without answers, by the prices of their models; empty without a model.

    For example `about 24,000 tokens of input, $0.030 with openai/gpt-5.2; price unknown: local/x`. An agent is sent
    no files.
    """
    known: list[str] = []
    unknown: list[str] = []
    total = 0
    for subject in subjects:
        if subject.provider == "agent" or not tokens.get(subject.name):
            continue
        total += tokens[subject.name]
        # The limit of a price is for one request, and these are all.
        price = replace(subject.price, longest_input=None) if subject.price else None
        usd = cost(Usage(tokens[subject.name], 0), price)
        name = sanitize_line(subject.name, 60)
        if usd is None:
            unknown.append(name)
        else:
            known.append(f"{dollars(usd)} with {name}")
    if not total:
        return ""
    prices = [", ".join([f"about {total:,} tokens of input", *known])]
    return "; ".join([*prices, *([f"price unknown: {', '.join(unknown)}"] if unknown else [])])


def estimate_line(planned: PlannedContext, trials: Iterable[TrialKey], subjects: Iterable[Subject]) -> str:
    """Return a line about the tokens and the cost of a run's requests, empty if they contain no files."""
    sent = planned.sent
    words = input_cost_words(planned.input_tokens(trials), subjects) if sent and sent.files[1] else ""
    return f"Estimate without answers: {words}" if words else ""


def wants_context(suite: Suite) -> bool:
    """Return whether the suite names files to send along."""
    return suite.repository_context is not None or any(case.code_context for case in suite.cases)


def sent_with(prompt: Prompt) -> SentContext:
    """Return what was sent along with the prompt of a case's first step."""
    files, characters = len(prompt.included), _characters(prompt)
    return SentContext((files, files), (characters, characters), prompt.left_out)


def merge_sent(parts: Iterable[SentContext]) -> SentContext | None:
    """Return the summary of several prompts, or None if there are none."""
    found = list(parts)
    if not found:
        return None
    files = min(part.files[0] for part in found), max(part.files[1] for part in found)
    characters = min(part.characters[0] for part in found), max(part.characters[1] for part in found)
    left_out = dict.fromkeys(file for part in found for file in part.left_out)
    return SentContext(files, characters, tuple(left_out))


def context_of_run(run: KeptRun) -> SentContext | None:
    """Return what was sent along in a run, or None if its suite names no files or nothing was run."""
    if not wants_context(run.plan.suite):
        return None
    # Every trial of a case has the same context.
    prompts = {
        result.trial.case: result.attempts[0].steps[0].prompt
        for result in run.results
        if result.attempts and result.attempts[0].steps
    }
    return merge_sent(map(sent_with, prompts.values()))


def sent_files(result: TrialResult) -> str | None:
    """Return the first question of a result with the files in it, empty without files; None if nothing was sent."""
    prompt = next((step.prompt for attempt in result.attempts for step in attempt.steps), None)
    if prompt is None or not prompt.included:
        return None if prompt is None else ""
    return next((message.content for message in prompt.messages if message.role == "user"), "")


class SentFiles:
    """What the newest run of each case sent: an answer that was sent with other files before is not comparable.

    `trials` are results with the ids of their runs, `read` returns what was sent with one (`sent_files`). Runs of a
    case that sent nothing, or nothing that is known, are passed over.
    """

    def __init__(self, trials: Iterable[tuple[str, TrialKey]], read: Callable[[str, TrialKey], str | None]) -> None:
        self._read = read
        self._newest: dict[str, tuple[str, set[str]]] = {}
        for run_id, trial in sorted(trials, key=itemgetter(0), reverse=True):
            newest_run, _ = self._newest.get(trial.case, (run_id, None))
            if newest_run == run_id and (sent := read(run_id, trial)) is not None:
                self._newest.setdefault(trial.case, (run_id, set()))[1].add(sent)

    def are_outdated(self, run_id: str, trial: TrialKey) -> bool:
        """Return whether a newer run of the case sent other files than those that this result was sent with."""
        newest_run, sent = self._newest.get(trial.case, (run_id, set[str]()))
        return newest_run != run_id and self._read(run_id, trial) not in (None, *sent)


def sent_trials(trials: Iterable[TrialKey]) -> dict[str, TrialKey]:
    """Return the first trial of each case whose prompt was made for its run; a replay, whose prompt is the recorded
    one, only of a case without another trial."""
    found: dict[str, TrialKey] = {}
    for trial in trials:
        known = found.setdefault(trial.case, trial)
        if is_replay_name(known.model) and not is_replay_name(trial.model):
            found[trial.case] = trial
    return found


def prompt_digest(result: TrialResult) -> str | None:
    """Return the digest of the first question of a result with its files, whose content no suite contains."""
    steps = [step for attempt in result.attempts for step in attempt.steps]
    asked = [message.content for message in steps[0].prompt.messages if message.role == "user"] if steps else []
    return hashlib.sha256(asked[0].encode("utf-8", "surrogatepass")).hexdigest() if asked else None


def _characters(prompt: Prompt) -> int:
    """Return the number of characters of the files in the question, which precede the step's own text."""
    if not prompt.included:
        return 0
    question = next((message.content for message in prompt.messages if message.role == "user"), "")
    return max(0, len(question) - len(prompt.input))


def _span(counts: tuple[int, int]) -> str:
    least, most = counts
    return f"{least:,}" if least == most else f"{least:,}–{most:,}"


def _names(paths: Sequence[str]) -> str:
    named = ", ".join(sanitize_line(path, 120) for path in paths[:_MOST_NAMED])
    return f"{named} and {len(paths) - _MOST_NAMED:,} more" if len(paths) > _MOST_NAMED else named
