"""Fenced blocks of answers, and the files they name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.workspace.answer.blocks import MOST_LINES, Block, find_blocks


def texts(answer: str) -> list[str]:
    return [block.text for block in find_blocks(answer)]


def only(answer: str) -> Block:
    blocks = find_blocks(answer)
    assert len(blocks) == 1
    return blocks[0]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("no code", []),
        ("", []),
        ("```\na\n```", ["a\n"]),
        ("```\n```", [""]),
        ("```\n\n```", ["\n"]),
        ("```py\na\nb", ["a\nb\n"]),
        ("```py\na\nb\n", ["a\nb\n"]),
        ("```", [""]),
        ("text\n```py\r\na\r\nb\r\n```\r\nmore", ["a\nb\n"]),
        ("```py\ra\rb\r```\r", ["a\nb\n"]),
        ("~~~py\na\n```\nb\n~~~", ["a\n```\nb\n"]),
        ("```py\na\n~~~\nb\n```", ["a\n~~~\nb\n"]),
        ("````md\n```py\na\n```\n````", ["```py\na\n```\n"]),
        ("````\na\n```\n````", ["a\n```\n"]),
        ("```\na\n`````", ["a\n"]),
        ("```\na\n```   \nb", ["a\n"]),
        ("```\na\n``` x\nb\n```", ["a\n``` x\nb\n"]),
        ("``` inline ``` and ```more```\n", []),
        ("~~~ a ` b\nx\n~~~", ["x\n"]),
        ("``\na\n``", []),
        ("   ```\n   a\n     b\n  c\n   ```", ["a\n  b\nc\n"]),
        ("1. Do:\n\n    ```py\n    a\n      b\n    ```\n", ["a\n  b\n"]),
        ("- ```py\n  a\n  ```", ["a\n"]),
        ("\t```\n\ta\n\t\tb\n\t```", ["a\n\tb\n"]),
        ("> ```py\n> a\n>\n> b\n> ```", ["a\n\nb\n"]),
        ("> ```py\n> a\nout of it\n", ["a\n"]),
        ("```py\n'''\n    ```\n    x\n    ```\n'''\n```", ["'''\n    ```\n    x\n    ```\n'''\n"]),
        ("```markdown\n# T\n```sh\nls\n```\nend\n```\n", ["# T\n```sh\nls\n```\nend\n"]),
        ("```markdown\n# T\n```\ntext\n```sh\nls\n```", ["# T\n", "ls\n"]),
        ("```markdown\n```sh\nls\n```\n", ["```sh\nls\n"]),
        ("```py\na\n```\n```ts\nb\n```", ["a\n", "b\n"]),
        ("```py\na\u2028b\x0bc\x85d\n```", ["a\u2028b\x0bc\x85d\n"]),
        ("```\n  a  \n\n\n```", ["  a  \n\n\n"]),
    ],
)  # fmt: skip
def test_blocks_are_found(answer: str, expected: list[str]) -> None:
    assert texts(answer) == expected


def test_the_last_block_can_be_open() -> None:
    blocks = find_blocks("```\na\n```\n```\nb")
    assert [(block.number, block.text) for block in blocks] == [(0, "a\n"), (1, "b\n")]


@pytest.mark.parametrize(
    ("info", "language", "path"),
    [
        ("", None, None),
        ("python", "python", None),
        ("c++", "c++", None),
        ("C#", "C#", None),
        ("python src/a.py", "python", "src/a.py"),
        ("python  a.py  ", "python", "a.py"),
        ("python 'my file.py'", "python", "my file.py"),
        ('python "src/a b.py" x', "python", "src/a b.py"),
        ("python:src/a.py", "python", "src/a.py"),
        ("c++:src/a.cpp", "c++", "src/a.cpp"),
        ('python:"src/a.py"', "python", "src/a.py"),
        ('ts title="src/a.ts"', "ts", "src/a.ts"),
        ("ts title='src/a b.ts' showLineNumbers", "ts", "src/a b.ts"),
        ("ts path=src/a.ts", "ts", "src/a.ts"),
        ("ts FILE=src/a.ts", "ts", "src/a.ts"),
        ("ts filename=src/a.ts {1,3}", "ts", "src/a.ts"),
        ("ts {1,3-5} filename = 'a.ts'", "ts", "a.ts"),
        ("title=a.ts", None, "a.ts"),
        ('{.python file="a.py"}', "python", "a.py"),
        ("{.ts .numberLines}", "ts", None),
        ("js {1,3}", "js", None),
        ('js title="A small example"', "js", None),
        ("js linenums=1", "js", None),
        ("js:line-numbers {1}", "js", None),
        ("js:no-line-numbers", "js", None),
        ("js [config.js]", "js", "config.js"),
        ("python copy", "python", None),
        ("bash $ ls", "bash", None),
        ("python 3.11", "python", None),
        ("src/a.py", None, "src/a.py"),
        ("app.py", None, "app.py"),
        ("12:15:src/a.py", None, "src/a.py"),
        ("Dockerfile", "Dockerfile", None),
        ("dockerfile Dockerfile", "dockerfile", "Dockerfile"),
        ("make Makefile", "make", "Makefile"),
        ("text LICENSE.txt", "text", "LICENSE.txt"),
        ("python ../../etc/passwd", "python", "../../etc/passwd"),
        ("python /etc/passwd", "python", "/etc/passwd"),
        ("python ~/.bashrc", "python", "~/.bashrc"),
        ("python C:\\x", "python", "C:\\x"),
        ("python nul", "python", "nul"),
        ("python .git/config", "python", ".git/config"),
        ("python git~1", "python", "git~1"),
        ("python .gitignore", "python", ".gitignore"),
        ("vb.net", "vb.net", None),
    ],
)
def test_an_info_string_names_language_and_path(info: str, language: str | None, path: str | None) -> None:
    for fence in ("```", "~~~"):
        block = only(f"{fence}{info}\nx\n{fence}")
        assert (block.language, block.path) == (language, path)
        assert block.text == "x\n"


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("# file: src/a.py", "src/a.py"),
        ("#path:src/a.py", "src/a.py"),
        ("// File: src/a.ts", "src/a.ts"),
        ("-- path: a.sql", "a.sql"),
        ("; file: a.ini", "a.ini"),
        (";; file: a.el", "a.el"),
        ("/* file: a.css */", "a.css"),
        ("/** path: a.css **/", "a.css"),
        ("<!-- file: a.html -->", "a.html"),
        ("  # file: 'a b.py'", "a b.py"),
        ("# file: `a.py`", "a.py"),
        ("# file: my file.py", "my file.py"),
        ("# file: src/a.py (new)", "src/a.py"),
        ("# file: ../../x", "../../x"),
        ("# file: /etc/passwd", "/etc/passwd"),
        ("# file: the one to read", None),
        ("# file:", None),
        ("# profile: a.py", None),
        ("file: a.py", None),
        ("x = 1  # file: a.py", None),
        ("#!/usr/bin/env python", None),
    ],
)
def test_a_first_line_names_a_path_and_goes(line: str, path: str | None) -> None:
    block = only(f"```\n{line}\nx\n```")
    assert block.path == path
    assert block.text == ("x\n" if path else f"{line}\nx\n")


def test_the_comment_stays_where_the_info_string_names_the_file() -> None:
    block = only("```py a.py\n# file: b.py\nx\n```")
    assert (block.path, block.text) == ("a.py", "# file: b.py\nx\n")


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("### src/a.py", "src/a.py"),
        ("## File: src/a.py", "src/a.py"),
        ("# 1. `src/a.py`", "src/a.py"),
        ("### New file: src/a.py (added)", "src/a.py"),
        ("### 2. File 1: `src/a`", "src/a"),
        ("### **src/a.py**:", "src/a.py"),
        ("#### a.py ####", "a.py"),
        ("### Makefile", "Makefile"),
        ("`src/a.py`", "src/a.py"),
        ("**`src/a.py`**", "src/a.py"),
        ("`src/a.py`:", "src/a.py"),
        ("File: `src/strange`", "src/strange"),
        ("`/etc/passwd`", "/etc/passwd"),
        ("`..\\x`", "..\\x"),
        ("- `a.py`", "a.py"),
        ("Create `src/a.py` with this:", "src/a.py"),
        ("Move `a.py` to `b.py`:", "b.py"),
        ("In `a.py`, use `os.path` and `foo()`:", "a.py"),
        ("Write `../../.bashrc`:", "../../.bashrc"),
        ("Run `a.py`:", None),
        ("Running the script `a.py` gives this:", None),
        ("Now `a.py` prints:", None),
        ("Usage of `a.py`:", None),
        ("You can check it with `python src/a.py`:", None),
        ("Here is the new `a.py`, which runs on Python 3:", "a.py"),
        ("Call `console.log`:", None),
        ("Use `os.path`:", None),
        ("Add a `/users` endpoint:", None),
        ("Use `open('x.py')`:", None),
        ("## Node.js", None),
        ("## Changes to the code", None),
        ("## Update a.py now", None),
        ("src/a.py:", None),
        ("Here it is:", None),
        ("", None),
    ],
)
@pytest.mark.parametrize("gap", ["", "\n"])
def test_the_line_before_names_a_path(line: str, path: str | None, gap: str) -> None:
    block = only(f"Text.\n{line}\n{gap}```python\nx\n```")
    assert block.path == path


def test_the_line_before_is_not_the_block_before() -> None:
    blocks = find_blocks("`a.py`\n```\nx\n```\n```\ny\n```\n")
    assert [block.path for block in blocks] == ["a.py", None]


def test_info_goes_before_comment_before_line() -> None:
    assert only("### c.py\n```py a.py\n# file: b.py\n```").path == "a.py"
    assert only("### c.py\n```py\n# file: b.py\n```").path == "b.py"


SLOW = [
    "```markdown\n```x\n" * (MOST_LINES // 2),
    "```md\n" * MOST_LINES,
    "`" * 2_000_000,
    "~~~\n" * MOST_LINES,
    "> " * 1_000_000 + "```\nx",
    "- " * 100_000 + "```",
    "```" + "title=" * 100_000 + "\nx",
    "```py title='" + "ab " * 1_300 + "/'\nx\n```\n" * 200,
    "``` " + "{" * 100_000 + "\n```",
    "```\n" + "# file: " + " " * 200_000 + "x\n```",
    "`" + "a`b`" * 100_000 + "\n```\nx\n```",
    "```py\n" + "a\n" * (MOST_LINES - 1),
    "#" * 6 + " " * 200_000 + "a\n```\n```",
]


@pytest.mark.parametrize("answer", SLOW)
def test_answers_made_to_hang(answer: str) -> None:
    find_blocks(answer)


@given(st.text(alphabet="`~ab>\n\r -#:./\t", max_size=200))
def test_no_answer_breaks_it(answer: str) -> None:
    blocks = find_blocks(answer)
    assert [block.number for block in blocks] == list(range(len(blocks)))
    assert all(block.text == "" or block.text.endswith("\n") for block in blocks)


@given(st.text(alphabet="`~ab\n ", max_size=80))
def test_a_long_enough_fence_keeps_any_text(text: str) -> None:
    block = only(f"``````````````py\n{text}\n{'`' * 100}\n") if "`" * 14 not in text else None
    assert block is None or block.text == text + "\n"
