"""Colours of code: the same whether lines come one by one or are jumped to, and never an exception."""

import inspect
import itertools
import multiprocessing
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from multiprocessing.queues import SimpleQueue
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.app.text.texts import raw_texts
from tests.support.work import count_lines
from tui.app.text import highlight
from tui.app.text.highlight import BlockColours, LineColours, SlowCode, knows_language, load_lexer

PYTHON = inspect.getsource(highlight).split("\n")
SAMPLES = {
    "c": "/* a\n comment */ int main(void) {\n  return 0; // done\n}",
    "javascript": "const a = `one\ntwo ${x}\nthree`;\nfunction f() { return 1; }",
    "html": "<p class='a'>x</p>\n<script>\nlet a = 1;\n</script>\n<style>\np { color: red }\n</style>",
    "rust": 'fn main() {\n  let s = "a\nb"; /* x /* y */\n z */ let t = 1;\n}',
    "php": "function f($a) {\n  return 'x';\n}",
    "yaml": "a: 1\nb:\n  - 'x'\n  - |\n    text\n",
    "ruby": "x = <<~T\n  here\nT\nputs :a",
}


def roles(colours: LineColours) -> list[str]:
    return [span.role for span in colours]


def texts(line: str, colours: LineColours) -> dict[str, str]:
    return {line[span.start : span.end]: span.role for span in colours}


def test_what_the_parts_of_a_line_are() -> None:
    line = "    def reverse(text: str) -> str:  # why"
    (colours,), _ = load_lexer("python").colours([line], ())
    assert all(load_lexer(name).colours(code.split("\n"), ())[0][0] for name, code in SAMPLES.items())
    assert texts(line, colours) == {
        "def": "keyword",
        "reverse": "function",
        "str": "type",
        "-": "operator",
        ">": "operator",
        "# why": "comment",
    }


@pytest.mark.parametrize(
    ("language", "code"),
    [("python", "\n".join(PYTHON)), *((name, SAMPLES[name]) for name in ("c", "javascript", "rust", "php", "yaml"))],
)
def test_lines_that_come_one_by_one_get_the_colours_of_the_whole(language: str, code: str) -> None:
    lines = code.split("\n")
    whole, _ = load_lexer(language).colours(lines, ())
    block = BlockColours(load_lexer(language))
    for count in range(1, len(lines) + 1):
        block.prepare(lines[:count], count - 1, count - 1)
    assert [roles(block.at(number)) for number in range(len(lines))] == [roles(colours) for colours in whole]


def test_what_is_known_is_not_lexed_again() -> None:
    block = BlockColours(load_lexer("python"))
    assert block.prepare(PYTHON, 0, 20) == 0
    assert block.prepare(PYTHON, 0, 20) is None
    assert block.prepare(PYTHON, 5, 40) is None, "a batch is lexed at once"


def test_a_comment_that_is_closed_later_changes_what_was_thought_before() -> None:
    block = BlockColours(load_lexer("c"))
    lines = ["int a;", "/* it", "int b;", "*/", "int c;"]
    assert block.prepare(lines[:3], 0, 2) == 0
    assert roles(block.at(2)) == ["comment"]
    assert block.prepare(lines, 4, 4) == 3
    assert [roles(block.at(line)) for line in (2, 4)] == [["comment"], ["type"]]


def test_a_far_line_is_reached_without_all_before_it() -> None:
    lines = PYTHON * 200
    block = BlockColours(load_lexer("python"))
    place = 2_003 + 70 * len(PYTHON)  # the same code as at the near line
    near, far = (
        count_lines(partial(BlockColours(load_lexer("python")).prepare, lines, at, at + 40)) for at in (2_003, place)
    )
    assert far < 1.1 * near
    block.prepare(lines, place, place + 40)
    assert any(block.at(line) for line in range(place, place + 40))
    block.prepare(lines, 0, 5)
    assert block.at(0)


@pytest.mark.parametrize("language", sorted({lexer: name for name, lexer in highlight._LEXERS.items()}.values()))
def test_every_language_is_there_and_takes_anything(language: str) -> None:
    assert knows_language(language)
    lexer = load_lexer(language)
    for code in ("", "'", '"""', "/*", "<", "\\", "${", "`", "\x00", "#" * 2_000, "\n".join(SAMPLES.values())):
        lines = code.split("\n")
        colours, state = lexer.colours(lines, ())
        assert len(colours) == len(lines)
        if state is not None:
            lexer.colours(["x = 1"], state)


@settings(max_examples=60)
@given(st.sampled_from(["python", "javascript", "c", "html", "yaml", "ruby", "bash"]), raw_texts)
def test_spans_lie_in_their_lines_in_order(language: str, text: str) -> None:
    lines = text.split("\n")
    for line, colours in zip(lines, load_lexer(language).colours(lines, ())[0], strict=True):
        for span in colours:
            assert 0 <= span.start < span.end <= len(line)
        assert all(one.end <= other.start for one, other in pairwise(colours))


# Patterns of these languages look for an end that never comes, from each of these places on.
SLOW_CODE = {"java": "a b ", "c#": "a b ", "css": "\\'", "php": "\\'", "javascript": '\\"', "go": "/* ", "html": "<?"}


@pytest.mark.parametrize("language", SLOW_CODE)
def test_code_that_is_slow_to_lex_is_given_up(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count(step=0.001)
    monkeypatch.setattr(time, "thread_time", lambda: next(ticks))
    lines = [SLOW_CODE[language] * (960 // len(SLOW_CODE[language]))] * 480
    with pytest.raises(SlowCode):
        BlockColours(load_lexer(language)).prepare(lines, 0, 60, highlight.lexing_deadline())
    assert next(ticks) < 0.2, "a token takes a millisecond here"


# One rule of a lexer needs exponential or cubic time for each of these: no deadline holds within it.
_SPACES = " " * 990
ENDLESS_CODE = {
    "scala": ['"' + "\\\\" * 60],
    "scala raw": ['raw"' + "\\\\" * 60],
    "perl": ["s!" + "\\\\" * 60],
    "perl replacement": ["s!a!" + "\\\\" * 60],
    "bash": ["x=$'" + "\\1" * 60],
    "makefile": ["a:", "\tx=$'" + "\\1" * 60],
    "php": ["<<<" + "é" * 60 + " "],
    "c": ["int f"] + ["//\\"] * 60 + ["x"],
    "cpp": ["a" + _SPACES, _SPACES, _SPACES, "b" + _SPACES, "( )" + _SPACES, _SPACES, '"'],
    "dockerfile": ["VOLUME " + _SPACES, _SPACES, _SPACES, _SPACES, _SPACES, "x"],
    "bash document": ["<<" + "a" * 990, *["a" * 495] * 400],
    "terraform": ["provider", *[""] * 49_000],
    "perl documentation": ["=a", *[""] * 49_000],
    "html": ["<script>", *["<" + _SPACES] * 50],
}


def _lex_endless(done: "SimpleQueue[str]") -> None:
    for name, lines in ENDLESS_CODE.items():
        with suppress(SlowCode):
            load_lexer(name.split()[0]).colours(lines, (), highlight.lexing_deadline())
        done.put(name)


def test_no_rule_of_a_lexer_takes_for_ever() -> None:
    """The rules run in another process, because nothing but a kill ends one."""
    context = multiprocessing.get_context("spawn")
    done: SimpleQueue[str] = context.SimpleQueue()
    lexing = context.Process(target=_lex_endless, args=(done,))
    lexing.start()
    lexing.join(60)
    lexing.kill()
    lexing.join()
    finished = [done.get() for _ in ENDLESS_CODE if not done.empty()]
    assert finished == list(ENDLESS_CODE)


@pytest.mark.parametrize(
    ("language", "line", "text", "role"),
    [
        ("scala", r'val a = "x \\ \" y" + z', r'"x \\ \" y"', "string"),
        ("scala", r'val a = raw"\d" + z', r'raw"\d"', "string"),
        ("perl", r"$x =~ s!a\!b\\!c!g; print $x;", r"s!a\!b\\!c!g", "string"),
        ("bash", r"echo $'a\101\'b' done", r"$'a\101\'b'", "string"),
        ("bash", "cat <<\\EOF; EOF ls", "<<\\EOF; EOF", "string"),
        ("html", "<style>b { color: red }< / style >", "color", "keyword"),
        ("html", "<script>var a = 1</script>", "var", "keyword"),
        ("c", "static int f /* a */ (int a) /* b */ {", "f", "function"),
        ("c", "char *  h ( int x ) ; // x", "// x", "comment"),
        ("dockerfile", 'VOLUME  ["/a", "b"]', '"/a"', "string"),
    ],
)
def test_the_replaced_rules_give_the_same_colours(language: str, line: str, text: str, role: str) -> None:
    assert texts(line, load_lexer(language).colours([line], ())[0][0])[text] == role


def test_long_comments_and_documents_have_one_colour() -> None:
    texts = {"c": ("/*", "*/"), "python": ('"""', '"""'), "bash": ("cat <<EOF", "EOF"), "perl": ("=head1 A", "=cut")}
    for language, (begin, end) in texts.items():
        lines = [begin, *["a word 'or two"] * 1_000, end, "if"]
        colours, _ = load_lexer(language).colours(lines, ())
        assert len({span.role for line in colours[1:-2] for span in line}) == 1, language
        assert roles(colours[-1]) == ["keyword"], language


def test_fewer_lines_are_lexed_at_once_where_they_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    lexer, sizes = load_lexer("java"), list[int]()
    colours = lexer.colours

    def noted(lines: Sequence[str], *others: Any) -> Any:
        sizes.append(sum(map(len, lines)))
        return colours(lines, *others)

    monkeypatch.setattr(lexer, "colours", noted)
    for lines in (["int a = b;"] * 600, ["int a = b; " * 90] * 600):
        for line in (0, 10, 100, 500):
            BlockColours(lexer).prepare(lines, line, line + 40)
    assert max(sizes) <= 30_000
    block = BlockColours(lexer)
    block.prepare(["x" * 2_000, "int a;"] * 30, 0, 59)
    assert roles(block.at(59)) == ["type"], "a line that is not lexed has no length"


def test_unknown_languages_are_left_alone() -> None:
    assert not knows_language("")
    assert not knows_language("brainfuck")
