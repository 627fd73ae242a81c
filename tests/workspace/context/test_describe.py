"""The generated system message and the block of files in the prompt."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tui.model.context import ContextFile, RepositoryFiles
from tui.model.results import IncludedFile, LeftOutFile
from tui.model.suite import LineRange
from tui.workspace.context.describe import Composed, RepositoryTexts, describe_repository


def composed(files: Sequence[ContextFile], own: Sequence[ContextFile] = ()) -> Composed:
    return RepositoryTexts(RepositoryFiles(tuple(files))).compose(own)


def test_the_system_message_names_count_languages_and_top_level() -> None:
    files = [
        ContextFile("README.md", "", "markdown"),
        ContextFile("src/a.ts", "", "typescript"),
        ContextFile("src/b.ts", "", "typescript"),
        ContextFile("x", "", None),
    ]
    text = describe_repository(files)
    assert "4 files" in text
    assert "TypeScript (2), Markdown (1), other (1)" in text
    assert "README.md, src/, x" in text


def test_one_file_and_none_are_reported_in_english() -> None:
    assert "1 file of it is given" in describe_repository([ContextFile("a.py", "", "python")])
    assert "0 files of it are given" in describe_repository([])


def test_each_file_is_under_its_path_in_a_fence() -> None:
    files = [ContextFile("a.py", "x = 1", "python"), ContextFile("b", "", None)]
    assert composed(files, [ContextFile("c.ts", "c\n", "typescript", LineRange(3, 4))]).text == (
        "### a.py\n\n```python\nx = 1\n```\n\n### b\n\n```\n```\n\n### c.ts (lines 3–4)\n\n```typescript\nc\n```\n"
    )
    assert composed([]) == ("", (), ())


def test_a_file_that_the_case_names_is_not_sent_twice() -> None:
    repository = [ContextFile("a.py", "a\n"), ContextFile("b.py", "b\n")]
    own = [ContextFile("a.py", "own\n"), ContextFile("c.py", "c\n", None, LineRange(1, 1))]
    text, included, left_out = composed(repository, own)
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "### b.py",
        "### a.py",
        "### c.py (lines 1–1)",
    ]
    assert included == (IncludedFile("b.py", 2), IncludedFile("a.py", 4), IncludedFile("c.py", 2))
    assert left_out == ()


def test_a_range_of_a_file_that_is_sent_whole_is_left_out() -> None:
    repository = [ContextFile("a.py", "a\n", place="a"), ContextFile("b.py", "b\n", place="b")]
    own = [ContextFile("./b.py", "b\n", None, LineRange(1, 1), place="b")]
    text, included, left_out = composed(repository, own)
    assert [line for line in text.splitlines() if line.startswith("#")] == ["### a.py", "### b.py"]
    assert [file.path for file in included] == ["a.py", "b.py"]
    assert left_out == (LeftOutFile("./b.py", "lines 1–1 are in the file, which is included whole"),)


@given(st.text(alphabet="`a\n\r ~", max_size=60))
def test_no_content_closes_its_fence(content: str) -> None:
    lines = composed([ContextFile("a", content)]).text.split("\n")
    fence = lines[2]
    assert [number for number, line in enumerate(lines) if fence in line] == [2, len(lines) - 2]
