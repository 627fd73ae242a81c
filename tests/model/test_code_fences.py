"""Fenced code blocks by the grammar that panes and changes share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.model.code_fences import FenceParser, opening_fence


def parsed(text: str, *, finish: bool = True) -> FenceParser:
    parser = FenceParser()
    for line in text.split("\n"):
        parser.add_line(line)
    if finish:
        parser.finish()
    return parser


def kinds(text: str, *, finish: bool = True) -> str:
    """A letter for each line: f for a fence, c for code, . for the rest."""
    parser = parsed(text, finish=finish)
    return "".join(
        "f" if parser.is_fence(line) else "c" if parser.block_at(line) else "." for line in range(parser.line_count)
    )


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a\n```\nb\n```\nc", ".fcf."),
        ("```python\nb", "fc"),
        ("```\n```\n```\nx\n```", "fffcf"),
        ("~~~\n```\n~~~", "fcf"),
        ("````\n```\n````", "fcf"),
        ("```\n`````\nx", "ff."),
        ("```\n``` x\n```", "fcf"),
        ("1. so:\n   ```js\n   x\n   ```\n2. and", ".fcf."),
        ("- ```js\n  x\n  ```", "fcf"),
        ("``` a`b", "."),
        ("~~~ a`b\nx", "fc"),
        ("``\nx", ".."),
        ("", "."),
        ("```\n   ```\nx", "ff."),
        ("```\n    ```\nx", "fcc"),
        ("  ```\nx\n     ```\ny", "fcf."),
    ],
)
def test_a_block_ends_at_a_fence_as_long_as_its_own(text: str, lines: str) -> None:
    assert kinds(text) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("> ```py\n> x\n> ```\nprose\nmore", "fcf.."),
        ("> ```py\n> x\nprose\nmore", "fc.."),
        ("> ```py\n>\n> x\n> ```\n> said", "fccf."),
        (">```py\n> x\n>```\nprose", "fcf."),
        ("> > ~~~\n> > x\n> prose", "fc."),
        ("> ```py\n> x\n```\ny\n```\nprose", "fcfcf."),
        ("```\n> ```\n```\nprose", "fcf."),
    ],
)
def test_a_quoted_block_ends_with_its_quote(text: str, lines: str) -> None:
    assert kinds(text) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("```markdown\n# T\n```sh\nls\n```\nend\n```\nprose", "fcccccf."),
        ("```markdown\n# T\n```\ntext\n```sh\nls\n```", "fcf.fcf"),
        ("```md\n> ```sh\n> ls\nend\n```\nprose", "fcccf."),
        ("```md\n```sh\nls\n```\nprose\n", "fccf.."),
        ("> ```md\n> ```sh\n> ls\nprose", "fcc."),
        ("> ```md\n> ```sh\n> ls\n> ```\nprose\n```\nx", "fccf.fc"),
        ("```text\n```sh\nls\n```\nprose", "fccf."),
    ],
)
def test_a_block_of_markdown_contains_blocks_that_are_closed(text: str, lines: str) -> None:
    assert kinds(text) == lines


def test_finish_says_whether_lines_were_read_in_another_way() -> None:
    text = "```md\n```sh\nls\n```\nprose"
    assert kinds(text, finish=False) == "fcccc"
    assert parsed(text, finish=False).finish()
    assert not parsed("```sh\nls", finish=False).finish()
    assert not parsed("```md\n```sh\nls\n```\n```", finish=False).finish()


@pytest.mark.parametrize(
    ("line", "language"),
    [
        ("```", ""),
        ("```Python", "python"),
        ("``` js title=x", "js"),
        ("```ts:src/a.ts", "ts"),
        ("```rust,ignore", "rust"),
        ("```c++", "c++"),
        ("~~~ {.py}", ""),
        ("> - ```yaml", "yaml"),
    ],
)
def test_the_language_is_the_first_word(line: str, language: str) -> None:
    fence = opening_fence(line)
    assert fence is not None
    assert fence.language == language


def test_a_line_that_is_still_arriving_is_judged_as_far_as_it_has_come() -> None:
    parser = FenceParser()
    assert parser.would_be_fence("```py")
    assert not parser.would_be_fence("``")
    parser.add_line("> ```py")
    assert not parser.would_be_fence("> ```py")
    assert parser.would_be_fence("> ```")
    assert parser.would_be_fence("```py")
    assert not parser.would_be_fence("prose")


def test_content_is_what_the_fence_is_around() -> None:
    fence = opening_fence("> - ```py")
    assert fence is not None
    assert (fence.quotes, fence.indent) == (1, 2)
    assert fence.content(">   x = 1") == "x = 1"
    assert fence.content(">     y") == "  y"
    assert fence.content(">") == ""
    assert fence.blank_quotes(">   x = 1") == "    x = 1"


def test_markdown_that_is_never_closed_is_one_block() -> None:
    lines = ["```md", "```sh"] * 2_000
    parser = FenceParser()
    for line in lines:
        parser.add_line(line)
    parser.finish()
    assert parser.line_count == len(lines)
    assert [block.first for block in parser.blocks] == [1]


@given(st.lists(st.sampled_from(["```", "~~~", "````", "```py", "```md", "> ```", "> ```md", "> a", "> ", "x", ""])))
def test_blocks_are_in_order_and_only_the_last_one_is_open(lines: list[str]) -> None:
    parser = parsed("\n".join(lines))
    ends = [0]
    for block in parser.blocks:
        assert block.first > ends[-1]
        ends.append(block.first if block.end is None else block.end)
    assert parser.line_count == max(1, len(lines))
    assert all(block.end is not None for block in parser.blocks[:-1])


def test_lines_are_read_again_up_to_a_limit() -> None:
    parser = FenceParser(most_reread_lines=5)
    lines = ["```md", *["```md"] * 20, "```", "```py", "x", "```"]
    for line in lines:
        parser.add_line(line)
    assert parser.line_count == len(lines)
    assert [(block.first, block.end, block.language) for block in parser.blocks] == [(1, 21, "md"), (23, 24, "py")]
