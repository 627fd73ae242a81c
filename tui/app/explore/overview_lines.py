"""The lines of the overview of a suite, of its problems, and of the Prompt tab."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from tui.app.presentation.pieces import Line, Piece, fill
from tui.model.errors import Problem
from tui.model.progress import TrialProgress
from tui.model.results import Prompt
from tui.model.sanitize import sanitize_line, sanitize_text
from tui.model.servers import model_names
from tui.model.suite import Case, Suite

_LINES_A_MESSAGE = 400
_FILES = 200
_TOOLS = 20


class SuiteKeys(NamedTuple):
    """The displayed keys that run a suite, choose its models, and run on the bundled model."""

    run: str
    choose: str
    local: str


def size_words(text: str) -> str:
    """Return the size of a text: `412 bytes`, `12 kB`."""
    size = len(text.encode(errors="replace"))
    return f"{size} bytes" if size < 10_000 else f"{size / 1000:.0f} kB"


def prompt_lines(case: Case, trial: TrialProgress | None, model: str, planned: Sequence[str] = ()) -> list[Line]:
    """Return the messages that were sent to a model; before that, the inputs of the case.

    `planned` are lines about the files that will be sent with it.
    """
    attempt = trial.attempt if trial else None
    sent = [step.prompt for step in attempt.steps if step.prompt] if attempt else []
    if not sent:
        return [
            (("Not sent yet. Prompt of this case:", "dim"),),
            (),
            *_text_lines(case.inputs),
            *_tool_lines(case),
            *_planned_lines(planned),
        ]
    lines: list[Line] = [((f"Sent to {sanitize_line(model)}", "dim"),), ()]
    last = sent[-1]
    for number, message in enumerate(last.messages):
        lines.append(((message.role, "strong"), (f"  {size_words(message.content)}", "dim")))
        lines += _text_lines(message.content)
        if number < len(last.messages) - 1:
            lines.append(())
    return [*lines, *_tool_lines(case), *_file_lines(last)]


def _planned_lines(planned: Sequence[str]) -> list[Line]:
    """Return lines about the files that will be sent, below an empty one."""
    if not planned:
        return []
    return [(), *(_planned_line(line) for line in planned)]


def _planned_line(line: str) -> Line:
    return ((sanitize_line(line, 2_000), "flaky" if line.startswith("Warning: ") else "plain"),)


def _tool_lines(case: Case) -> list[Line]:
    """Return the tools that are offered to a chat model, with their parameters."""
    if not case.tools:
        return []
    lines: list[Line] = [(), ((f"Tools: {len(case.tools)}, at most {case.max_turns} turns", "strong"),)]
    for tool in case.tools[:_TOOLS]:
        name, description = sanitize_line(tool.name, 64), sanitize_line(tool.description)
        lines.append((("  ", "plain"), (name, "accent"), (f"  {description}", "plain")))
        if tool.parameters:
            lines.append(((f"  {sanitize_line(json.dumps(tool.parameters, ensure_ascii=False))}", "dim"),))
    if (more := len(case.tools) - _TOOLS) > 0:
        lines.append(((f"  … {more} more tools", "dim"),))
    return lines


def _text_lines(text: str) -> list[Line]:
    rows = sanitize_text(text).splitlines()
    lines: list[Line] = [((row, "plain"),) for row in rows[:_LINES_A_MESSAGE]]
    if len(rows) > _LINES_A_MESSAGE:
        lines.append(((f"… {len(rows) - _LINES_A_MESSAGE} more lines", "dim"),))
    return lines


def _file_lines(prompt: Prompt) -> list[Line]:
    lines: list[Line] = []
    if prompt.included:
        total = sum(file.size for file in prompt.included)
        lines += [(), ((f"Included: {len(prompt.included)} files, {total} bytes", "strong"),)]
        for included in prompt.included[:_FILES]:
            lines.append(((f"{included.size:>9}  ", "dim"), (sanitize_line(included.path), "plain")))
    if prompt.left_out:
        lines += [(), ((f"Omitted: {len(prompt.left_out)} files", "strong"),)]
        for left in prompt.left_out[:_FILES]:
            lines.append(((f"  {sanitize_line(left.path)}  ", "plain"), (sanitize_line(left.reason), "dim")))
    return lines


def problem_lines(problems: Sequence[Problem]) -> list[Line]:
    """Return the problems of a suite, each with its position in the file."""
    lines: list[Line] = []
    for problem in problems:
        place = sanitize_line(
            problem.file if problem.line is None else f"{problem.file}:{problem.line}:{problem.column or 1}"
        )
        mark: Piece = ("! ", "error") if problem.level == "error" else ("· ", "flaky")
        lines.append((mark, (place, "accent")))
        where = f"{sanitize_text(problem.where)}: " if problem.where else ""
        lines.append((("  ", "plain"), (where, "strong"), (sanitize_text(problem.what), "plain")))
        lines.append(())
    return lines


def outdated_lines(name: str) -> list[Line]:
    """Return what is displayed of a file with errors that was read without errors before."""
    return [
        (("The cases and results on the left belong to the last version without errors.", "plain"),),
        (
            ("Fix the file to run it; ", "plain"),
            (sanitize_line(name), "strong"),
            (" is read again when it changes.", "plain"),
        ),
    ]


def _model_lines(named: Sequence[str], shown: Sequence[str]) -> list[Line]:
    """Return a line for each model; a displayed model has the number of its pane."""
    lines: list[Line] = []
    for name in dict.fromkeys((*named, *shown)):
        number = str(shown.index(name) + 1) if name in shown else " "
        lines.append(
            ((fill("" if lines else "models", 10), "dim"), (f"{number} ", "accent"), (sanitize_line(name), "plain"))
        )
    return lines or [((fill("models", 10), "dim"), ("none", "plain"))]


def suite_lines(
    path: str, suite: Suite, models: Sequence[str], problems: Sequence[Problem], faults: Sequence[Line], keys: SuiteKeys
) -> list[Line]:
    """Return the overview of a suite; `faults` are the lines about models that cannot be run."""
    options = suite.options
    facts: list[tuple[str, str]] = [
        ("file", path),
        ("format", suite.format),
        ("cases", str(len(suite.cases))),
        ("timeout", f"{options.timeout_ms / 1000:g} s per attempt"),
        ("attempts", str(options.attempts)),
    ]
    lines: list[Line] = [((sanitize_line(suite.name), "strong"),)]
    lines += [((row, "plain"),) for row in sanitize_text(suite.description).splitlines()]
    lines.append(())
    lines += [((fill(name, 10), "dim"), (sanitize_line(value), "plain")) for name, value in facts if value]
    lines += _model_lines(model_names(suite), models)
    if models:
        lines += [
            (),
            ((keys.run, "accent"), (" runs the suite, ", "plain"), ("Enter", "accent"), (" unfolds it.", "plain")),
        ]
    else:
        lines += [(), ((keys.choose, "accent"), (" chooses models: this suite has no models and no agent.", "plain"))]
    if faults:
        lines += [(), *faults]
    return [*lines, (), *problem_lines(problems)] if problems else lines
