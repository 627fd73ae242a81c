"""Reading Assay's own JSON report, such as a baseline that is committed beside a suite."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from tui.imports.result_file import STRICT, ResultFile
from tui.model.errors import SuiteError
from tui.model.results import CountedVerdict, Verdict, counted_as
from tui.model.run import COMMIT
from tui.statistics.run_change import RunResults, results_of

_FIX = "Pass a file that `assay run -f json -o FILE` or `assay report RUN -f json -o FILE` wrote."
_Text = Annotated[str, Field(max_length=1_000)]
_Version = Annotated[str, Field(max_length=100_000)]  # several after a continued run


@with_config(STRICT)
class _Run(TypedDict):
    id: _Text
    started_at: NotRequired[_Text]
    state: Literal["running", "finished", "interrupted", "cancelled"]
    model_sha256: NotRequired[dict[_Text, _Text]]
    versions: NotRequired[dict[_Text, _Version]]


@with_config(STRICT)
class _Suite(TypedDict):
    name: str


@with_config(STRICT)
class _Result(TypedDict):
    case: _Text
    checked: NotRequired[bool]
    case_sha256: NotRequired[_Text]
    prompt_sha256: NotRequired[_Text]
    cluster: NotRequired[_Text]
    model: _Text
    verdict: Verdict
    first_verdict: NotRequired[Verdict]
    flaky: bool


@with_config(STRICT)
class _Report(TypedDict):
    version: Literal[1]
    run: _Run
    suite: _Suite
    results: list[_Result]


@dataclass(frozen=True, slots=True)
class _Trial:
    """A trial of the report with the verdict that counts."""

    case: str
    verdict: Verdict
    first_verdict: Verdict
    flaky: bool
    reruns: int = 0

    @property
    def counted(self) -> CountedVerdict:
        return counted_as(self)


def read_report_file(path: Path) -> RunResults:
    """Return the results in a JSON report of one run, at most 128 MiB. Raises SuiteError with every problem found."""
    from pydantic import TypeAdapter

    file = ResultFile(path, _FIX, what="The report cannot be read")
    text = file.json_text()
    if text.lstrip()[:1] == "[":
        raise SuiteError("The report holds several runs", where=str(path), fix="Pass a report of one run.")
    report: _Report = file.parse(TypeAdapter(_Report), text)
    by_model = _by_model(report["results"])
    # Reports of earlier versions say nothing of the cases, but an answer shows that its case has no check.
    known = [result for result in report["results"] if "checked" in result]
    unchecked = {trial.case for trials in by_model.values() for trial in trials if trial.counted == "unchecked"}
    unchecked |= {result["case"] for result in known if not result["checked"]}
    return RunResults(
        report["run"]["id"],
        report["suite"]["name"],
        report["run"].get("started_at", ""),
        report["run"]["state"] == "finished",
        {model: results_of(trials, unchecked) for model, trials in by_model.items()},
        {result["case"]: result["cluster"] for result in known if "cluster" in result} if known else None,
        {result["case"]: result["case_sha256"] for result in known if "case_sha256" in result},
        {result["case"]: result["prompt_sha256"] for result in known if "prompt_sha256" in result},
        report["run"].get("model_sha256", {}),
        report["run"].get("versions", {}).get(COMMIT, "")[:1_000],
    )


def _by_model(results: Iterable[_Result]) -> Mapping[str, list[_Trial]]:
    found: dict[str, list[_Trial]] = {}
    for result in results:
        verdict = result["verdict"]
        trial = _Trial(result["case"], verdict, result.get("first_verdict", verdict), result["flaky"])
        found.setdefault(result["model"], []).append(trial)
    return found
