"""What code changes cost in a repository of 5,000 files: applying and diffing one, beside clones and work trees.

usage: python -m tests.benchmarks.code_changes [--files N] [--json]
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pygit2

from tests.support.repositories import git, make_repository
from tui.model.results import TrialKey
from tui.model.suite import Case, RepositoryContext
from tui.workspace.answer.apply import apply_answer
from tui.workspace.context.read import read_repository
from tui.workspace.git.base import Base, open_base
from tui.workspace.git.diff import diff_texts
from tui.workspace.words import changed_words

TARGET = "src/m0/p0/f140.py"
CASE = Case("case", "n", "c", (), apply_changes=True, target_file=TARGET)


def timed(times: int, do: Callable[[int], object]) -> tuple[float, float]:
    """CPU and wall milliseconds of one call, the median of many."""
    cpu, wall = [], []
    for number in range(times):
        begun = (time.process_time(), time.perf_counter())
        do(number)
        cpu.append(time.process_time() - begun[0])
        wall.append(time.perf_counter() - begun[1])
    return 1_000 * statistics.median(cpu), 1_000 * statistics.median(wall)


def through_the_index(base: Base, text: bytes) -> bytes:
    """The bare lower bound: one blob, one tree by way of an index of everything, one diff of two trees."""
    index = pygit2.Index()
    index.read_tree(base.tree)
    index.add(pygit2.IndexEntry(TARGET, base.repository.create_blob(text), pygit2.enums.FileMode.BLOB))
    tree = base.repository[index.write_tree(base.repository)].peel(pygit2.Tree)
    return base.tree.diff_to_tree(tree).patch.encode()  # type: ignore[union-attr]


def measure(folder: Path, files: int) -> list[dict[str, object]]:
    """One row for each thing that is done."""
    lines = "".join(f"line {number}\n" for number in range(60))
    make_repository(folder / "work", {f"src/m{n % 70}/p{n % 7}/f{n}.py": f"# {n}\n{lines}" for n in range(files)})
    git(folder, "clone", "-q", "--bare", "work", "bare.git")
    base = open_base(folder / "bare.git")
    answer = f"Here:\n\n```python\n# 140\n{lines}# {{}}\n```\n"
    old = (lines * 1_700).encode()
    word_lines = ("    return foo(bar, baz) + 1  # a comment", "    return foo(bar, qux) + 2  # a comment")
    work = folder / "work"

    def apply(number: int) -> object:
        return apply_answer(base, CASE, answer.format(number), TrialKey("c", str(number)))

    doings: list[tuple[str, int, Callable[[int], object]]] = [
        ("apply, commit and diff one change", 200, apply),
        ("bare: index, tree and diff", 50, lambda n: through_the_index(base, f"{lines}# {n}\n".encode())),
        ("git worktree add", 3, lambda n: git(work, "worktree", "add", "-q", "--detach", str(folder / f"tree{n}"))),
        ("git clone, with a work tree", 3, lambda n: git(folder, "clone", "-q", "--no-local", "work", f"c{n}")),
        ("open the clone, its tree counted", 10, lambda _: open_base(folder / "bare.git")),
        ("read 100 files of the tree", 5, lambda _: read_repository(RepositoryContext("."), base.source())),
        ("read 100 files of the folder", 5, lambda _: read_repository(RepositoryContext("."), work)),
        ("diff 102,000 lines, 1,700 changed", 3, lambda _: diff_texts(old, old.replace(b"line 7\n", b"LINE\n"))),
        ("changed words of a pair of lines", 2_000, lambda _: changed_words(*word_lines)),
    ]  # fmt: skip
    return [
        dict(zip(("what", "cpu_ms", "wall_ms"), (what, *timed(times, do)), strict=True)) for what, times, do in doings
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder), options.files)
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{'':36} {'CPU ms':>10} {'wall ms':>10}   ({options.files:,} files; CPU of this process)")
    for row in rows:
        print(f"{row['what']:36} {row['cpu_ms']:10.3f} {row['wall_ms']:10.3f}")


if __name__ == "__main__":
    main()
