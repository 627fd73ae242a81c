"""Print the table of SECURITY.md: `uv run python -m tests.hostile.figures` counts the tests of each defence."""

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]
DEFENCES: dict[str, tuple[str, ...]] = {
    "Faults of a provider: exact state, message, retries, what is kept": (
        "tests/faults",
        "tests/providers/http",
        "tests/providers/openai",
        "tests/providers/test_openai_faults.py",
        "tests/providers/test_anthropic.py",
    ),
    "Hostile agents and commands": (
        "tests/hostile/test_agents.py",
        "tests/providers/test_agent_files.py",
        "tests/providers/test_agent_commands.py",
        "tests/providers/test_agent_endpoints.py",
        "tests/workspace/test_commands.py",
        "tests/processes/test_guarded.py",
    ),
    "Mutated files: suites, config, themes, results, scores": ("tests/hostile/test_files.py",),
    "Hostile project files": ("tests/config/test_project.py",),
    "Bad suites: each problem with its place and sentence": (
        "tests/suites/test_bad_files.py",
        "tests/suites/test_fuzz.py",
    ),
    "Paths of answers, hostile repositories": (
        "tests/model/test_paths.py",
        "tests/workspace/answer/test_apply.py",
        "tests/workspace/test_hostile_repositories.py",
        "tests/workspace/git/test_clone.py",
    ),
    "Control characters and markup on the screen": (
        "tests/hostile/test_screens.py",
        "tests/app/test_screens.py",
        "tests/model/test_sanitize.py",
        "tests/app/text/test_sanitize.py",
    ),
    "Keys in errors, streams, files and reports": (
        "tests/hostile/test_secrets.py",
        "tests/hostile/test_secret_sessions.py",
        "tests/hostile/test_crashes.py",
        "tests/model/test_secrets.py",
        "tests/model/test_environ.py",
        "tests/workspace/git/test_credentials.py",
    ),
    "Reports: each format read back with hostile text": ("tests/reports",),
    "Histories: kills, full disks, damage, cut logs, older formats": (
        "tests/store",
        "tests/hostile/test_databases.py",
        "tests/hostile/test_data_folder.py",
        "tests/cli/test_damaged_history.py",
    ),
    "Scores: merges, kills, bad lines, names": ("tests/risk", "tests/session/test_score_exchange.py"),
    "Kills while Assay runs and scores, two programs at once": (
        "tests/hostile/test_kills.py",
        "tests/app/test_killed.py",
    ),
    "Signals: each stage × SIGINT, SIGTERM, SIGHUP, SIGQUIT, stop and continue": (
        "tests/hostile/test_signals.py",
        "tests/hostile/test_repeated_signals.py",
        "tests/model/test_exit_signals.py",
        "tests/cli/test_interrupts.py",
    ),
    "Terminals, streams, other users": (
        "tests/hostile/test_terminals.py",
        "tests/app/test_in_a_terminal.py",
        "tests/cli/test_streams.py",
    ),
    "The app in a browser: token, Host, Origin; pastes": (
        "tests/cli/test_serve.py",
        "tests/app/test_terminal_input.py",
    ),
}


def count_tests(paths: tuple[str, ...]) -> tuple[int, int]:
    """Return how many tests pytest collects below the paths: in the short suite, and marked as long."""
    there = [path for path in paths if (PROJECT / path).exists()]
    if not there:
        return 0, 0
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-o", "addopts=", *there]
    counts = []
    for mark in ("not long", "long"):
        listed = subprocess.run([*command, "-m", mark], cwd=PROJECT, capture_output=True, text=True, check=False)
        counts.append(sum("::" in line for line in listed.stdout.splitlines()))
    return counts[0], counts[1]


def main() -> None:
    """Print the table."""
    print("| Defence | Tests | Long tests | Where |")  # noqa: T201
    print("| --- | ---: | ---: | --- |")  # noqa: T201
    for defence, paths in DEFENCES.items():
        short, long = count_tests(paths)
        print(f"| {defence} | {short:,} | {long:,} | {', '.join(f'`{path}`' for path in paths)} |")  # noqa: T201


if __name__ == "__main__":
    main()
