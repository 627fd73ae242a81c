"""Which lines of an answer are code."""

import pytest

from tui.app.text.fences import Fences


def found(text: str) -> str:
    """A letter for each line: f for a fence, c for code, . for the rest."""
    fences, lines = Fences(), text.split("\n")
    for line in lines:
        fences.add_line(line)
    return "".join(
        "f" if fences.is_fence(number) else "c" if fences.block_at(number) else "." for number in range(len(lines))
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
        ("``\nx", ".."),
        ("", "."),
    ],
)
def test_examples(text: str, lines: str) -> None:
    assert found(text) == lines


@pytest.mark.parametrize(
    ("fence", "language"),
    [
        ("```", ""),
        ("```Python", "python"),
        ("``` js title=x", "js"),
        ("```ts:src/a.ts", "ts"),
        ("```rust,ignore", "rust"),
        ("```c++", "c++"),
        ("~~~ {.py}", ""),
    ],
)
def test_the_language_is_the_first_word(fence: str, language: str) -> None:
    fences = Fences()
    fences.add_line(fence)
    block = fences.block_at(1)
    assert block is not None
    assert block.language == language


def test_a_line_that_is_still_arriving_is_judged_as_far_as_it_has_come() -> None:
    fences = Fences()
    assert fences.would_be_fence("```py")
    assert not fences.would_be_fence("``")
    fences.add_line("```py")
    assert not fences.would_be_fence("```py")
    assert fences.would_be_fence("```")
