"""Syntax highlighting of code, line by line as it becomes visible. Pygments is imported on first use."""

import re
import time
from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib import import_module
from itertools import accumulate
from math import inf
from sys import maxsize
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from pygments.lexer import Lexer

CodeRole = Literal["keyword", "function", "type", "string", "number", "comment", "operator"]


class CodeSpan(NamedTuple):
    """A part of a line of code with its role: a half-open range of code points."""

    start: int
    end: int
    role: CodeRole


LineColours = tuple[CodeSpan, ...]

# An explicit list, because the name of a language comes from an answer, and a slow lexer could block the app.
_LEXERS: dict[str, tuple[str, str, str]] = {
    name: (f"pygments.lexers.{module}", lexer, state)
    for names, module, lexer, state in (
        ("python py python3 py3", "python", "PythonLexer", "root"),
        ("javascript js jsx mjs cjs node", "javascript", "JavascriptLexer", "root"),
        ("typescript ts tsx", "javascript", "TypeScriptLexer", "root"),
        ("json jsonc json5", "javascript", "JavascriptLexer", "root"),
        ("yaml yml", "data", "YamlLexer", "root"),
        ("toml", "configs", "TOMLLexer", "root"),
        ("ini cfg conf properties", "configs", "IniLexer", "root"),
        ("bash sh shell zsh", "shell", "BashLexer", "root"),
        ("powershell ps1 pwsh", "shell", "PowerShellLexer", "root"),
        ("sql postgresql postgres mysql sqlite", "sql", "SqlLexer", "root"),
        ("html htm vue svelte", "html", "HtmlLexer", "root"),
        ("xml svg", "html", "XmlLexer", "root"),
        ("css", "css", "CssLexer", "root"),
        ("scss", "css", "ScssLexer", "root"),
        ("java", "jvm", "JavaLexer", "root"),
        ("kotlin kt", "jvm", "KotlinLexer", "root"),
        ("scala", "jvm", "ScalaLexer", "root"),
        ("c h", "c_cpp", "CLexer", "root"),
        ("cpp c++ cc cxx hpp", "c_cpp", "CppLexer", "root"),
        ("csharp cs c#", "dotnet", "CSharpLexer", "root"),
        ("go golang", "go", "GoLexer", "root"),
        ("rust rs", "rust", "RustLexer", "root"),
        ("ruby rb", "ruby", "RubyLexer", "root"),
        ("php", "php", "PhpLexer", "php"),
        ("swift", "objective", "SwiftLexer", "root"),
        ("lua", "scripting", "LuaLexer", "root"),
        ("perl pl", "perl", "PerlLexer", "root"),
        ("r", "r", "SLexer", "root"),
        ("haskell hs", "haskell", "HaskellLexer", "root"),
        ("elixir ex exs", "erlang", "ElixirLexer", "root"),
        ("dart", "javascript", "DartLexer", "root"),
        ("dockerfile docker", "configs", "DockerLexer", "root"),
        ("makefile make", "make", "MakefileLexer", "root"),
        ("terraform hcl tf", "configs", "TerraformLexer", "root"),
        ("diff patch", "diff", "DiffLexer", "root"),
    )
    for name in names.split()
}
_LONGEST_LINE = 1_000  # characters; longer lines are not highlighted: slow patterns get slower with length
_LINE_LENGTH = 100  # characters; where lines are longer on average, fewer are lexed at once
_BATCH = 60  # lines lexed at once, from the requested one on
_FAR = 240  # lines lexed only for the state at a later line; beyond that the state is guessed
_MOST_S = 0.15  # CPU seconds of lexing before a frame; a screen of ordinary code takes less than a third
_FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
# Parts of Pygments' rules that take exponential or cubic time where an end is missing; the same without backtracking.
# No deadline holds within one rule, and all other threads wait for it too.
_SLOW_RULES = (
    (r'(\\\\|\\"|[^"])*"', r'(\\\\|\\"|[^"])*+"'),  # strings of Scala
    (r"(\\\\|\\!|[^!])*!", r"(\\\\|\\!|[^!])*+!"),  # substitutions of Perl
    (r"(\\\\|\\[0-7]+|\\.|[^'\\])*'", r"(\\\\|\\[0-7]+|\\.|[^'\\])*+'"),  # strings of Bash
    (r"(?:\w|[^\x00-\x7f])*", r"(?:\w|[^\x00-\x7f])*+"),  # names of PHP
    (r"//(?:.|(?<=\\)\n)*\n", r"//(?:.|(?<=\\)\n)*+\n"),  # comments of C
    (r"(\s*(?:(?:(?:/", r"(\s*+(?:(?:(?:/"),  # comments between the parts of a function of C
    (r"(\s+)((?:\s*\\?\s*))(\[", r"(\s++)((?:\s*+\\?\s*+))(\["),  # instructions of Dockerfiles
    (r"<<-?\s*(\'?)\\?(\w+)[\w\W]+?\2", r"<<-?\s*+(\'?+)\\?+(\w++)[\w\W]+?\2"),  # here-documents of Bash
    (r"[*](?!(?:\\\n)?/))*[*]", r"[*](?!(?:\\\n)?/))*+[*]"),  # comments of C
    (r"^(\s*)([rRuUbB]{,2})", r"^(\s*+)([rRuUbB]{,2})"),  # documentation of Python
    (r"<\s*/\s*script\s*>", r"<\s*+/\s*+script\s*+>"),  # the end of a script in HTML
    (r"<\s*/\s*style\s*>", r"<\s*+/\s*+style\s*+>"),
    (r"^=[a-zA-Z0-9]+\s+.*?\n=cut", r"^=[a-zA-Z0-9]++\s++.*?\n=cut"),  # documentation of Perl
)
_REACH = 4_000  # characters that a rule may look at if its time may grow with their square
_REPEATS = re.compile(r"\)?(?:[*+]|\{\d*,\})")
_NO_REPEATS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[*+?]\+", re.DOTALL)
_OPEN_ENDED = re.compile(r"\AToken\.(Comment\.(Multiline|Special)|Literal\.String|Comment\Z)")


def knows_language(language: str) -> bool:
    """Return whether code of this language, by any of its usual names, can be highlighted."""
    return language in _LEXERS


@lru_cache
def load_lexer(language: str) -> "CodeLexer":
    """Return the lexer of a known language.

    The first call takes tens of milliseconds; it may be in any thread.
    """
    _bound_rules()
    module, name, state = _LEXERS[language]
    return CodeLexer(getattr(import_module(module), name), state)


@cache
def _bound_rules() -> None:
    """Let Pygments compile the rules of its lexers without the slow parts, also of a lexer within another one.

    Other rules that may be slow get only some text at once, so that each of their matches takes milliseconds.
    """
    import pygments.lexer

    compiler: Any = pygments.lexer.RegexLexerMeta  # the types of its methods are unknown

    def compile_rule(_lexer: object, rule: Any, flags: int, _state: str) -> object:
        pattern: str = rule.get() if hasattr(rule, "get") else rule  # a list of words makes its pattern when asked
        for slow, fast in _SLOW_RULES:
            pattern = pattern.replace(slow, fast)
        match = re.compile(pattern, flags).match
        if not may_be_slow(pattern):
            return match
        return lambda text, start, end=maxsize: match(text, start, min(end, start + _REACH))

    compiler._process_regex = compile_rule


def may_be_slow(pattern: str) -> bool:
    """Return whether the time of a pattern may grow faster than the text; also of some for which it cannot.

    That needs two parts that repeat without limit, or a group that does. A possessive part (`a*+`) matches in one way.
    """
    repeats = _REPEATS.findall(_NO_REPEATS.sub("_", pattern))
    return len(repeats) > 1 or any(repeat.startswith(")") for repeat in repeats)


class SlowCode(Exception):
    """Lexing took longer than allowed: some patterns need quadratic time for unusual code."""


def lexing_deadline() -> float:
    """Return the CPU time of this thread at which lexing in the event loop has to end."""
    return time.thread_time() + _MOST_S


def slice_end(lines: Sequence[str], start: int, count: int) -> int:
    """Return the end of a slice of at most `count` lines to be lexed at once: fewer if they are long, at least one."""
    lengths = accumulate(len(_lexed(line)) for line in lines[start : start + count])
    return start + max(1, bisect_right(list(lengths), count * _LINE_LENGTH))


def _lexed(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else ""


class CodeLexer:
    """A lexer that can start in a given state, and returns the state at the end of the lines."""

    def __init__(self, lexer: "type[Lexer]", state: str) -> None:
        from pygments.lexer import ExtendedRegexLexer, RegexLexer

        self._first_state = state
        self._resumes = issubclass(lexer, RegexLexer) and not issubclass(lexer, ExtendedRegexLexer)
        self._lexer: Any = _resumable(lexer)() if self._resumes else lexer()

    def colours(
        self, lines: Sequence[str], state: tuple[str, ...], deadline: float = inf
    ) -> tuple[list[LineColours], tuple[str, ...] | None]:
        """Return the colors of each line, and the state after the last one.

        The state is None inside an open construct that later text may change, such as a comment. The state () is the
        initial state of the language. Raises SlowCode at the deadline, in CPU time of this thread.
        """
        short = [_lexed(line) for line in lines]
        line_starts = list(accumulate((len(line) + 1 for line in short), initial=0))
        stack = list(state or (self._first_state,))
        found: list[list[CodeSpan]] = [[] for _ in lines]
        last: object = None
        try:
            for at, kind, value in self._tokens("\n".join(short) + "\n", stack):
                if time.thread_time() > deadline:
                    raise SlowCode
                last = kind
                role = _role_of(kind)
                if role is None:
                    continue
                line = bisect_right(line_starts, at) - 1
                for number, part in enumerate(value.split("\n"), line):
                    if part and number < len(found):
                        start = at - line_starts[line] if number == line else 0
                        found[number].append(CodeSpan(start, start + len(part), role))
        except _FAULTS:
            return [()] * len(lines), ()
        return [tuple(spans) for spans in found], None if _OPEN_ENDED.match(str(last)) else tuple(stack)

    def _tokens(self, text: str, stack: list[str]) -> Iterator[tuple[int, object, str]]:
        """Yield the tokens of the text, and set `stack` to the state at its end."""
        if not self._resumes:
            yield from self._lexer.get_tokens_unprocessed(text)
            return
        from pygments.lexer import LexerContext

        context = LexerContext(text, 0, stack=stack)
        yield from self._lexer.get_tokens_unprocessed(context=context)
        stack[:] = context.stack


def _resumable(lexer: "type[Lexer]") -> "type[Lexer]":
    """Return the lexer as one with a context: only those expose their state."""
    from pygments.lexer import ExtendedRegexLexer, LexerContext

    class Resumable(ExtendedRegexLexer, lexer):  # type: ignore[misc, valid-type]
        def get_tokens_unprocessed(  # type: ignore[override]
            self, text: str = "", context: LexerContext | None = None, stack: Sequence[str] = ("root",)
        ) -> Iterator[tuple[int, object, str]]:
            yield from super().get_tokens_unprocessed(context=context or LexerContext(text, 0, stack=list(stack)))

    return Resumable


@lru_cache(512)
def _role_of(kind: object) -> CodeRole | None:
    name = str(kind)
    return next((role for prefix, role in _ROLES if name.startswith(prefix)), None)


_ROLES: tuple[tuple[str, CodeRole | None], ...] = (
    ("Token.Keyword.Type", "type"),
    ("Token.Keyword.Constant", "number"),
    ("Token.Keyword", "keyword"),
    ("Token.Operator.Word", "keyword"),
    ("Token.Operator", "operator"),
    ("Token.Name.Function", "function"),
    ("Token.Name.Decorator", "function"),
    ("Token.Name.Builtin", "type"),
    ("Token.Name.Class", "type"),
    ("Token.Name.Exception", "type"),
    ("Token.Name.Tag", "keyword"),
    ("Token.Name.Attribute", "type"),
    ("Token.Literal.String.Doc", "comment"),
    ("Token.Literal.String", "string"),
    ("Token.Literal.Number", "number"),
    ("Token.Literal.Date", "number"),
    ("Token.Comment", "comment"),
    ("Token.Generic.Inserted", "string"),
    ("Token.Generic.Deleted", "number"),
    ("Token.Generic.Subheading", "function"),
    ("Token.Generic.Heading", "function"),
)


class BlockColours:
    """The colors of the lines of one code block, which arrive in order and become visible in any order."""

    def __init__(self, lexer: CodeLexer) -> None:
        self._lexer = lexer
        self._known: dict[int, LineColours] = {}
        self.restart()

    def restart(self) -> None:
        """Lex the block again, because it is complete now: a construct can change when its end arrives."""
        self._before, self._known = self._known, {}
        self._states: dict[int, tuple[str, ...]] = {0: ()}  # the known states at the beginning of lines
        self._beginnings = [0]
        self._unsure_from: int | None = None  # from this line on, later text may change the colors
        self._unsure_until = 0

    def at(self, line: int) -> LineColours:
        """Return the colors of a line; none while they are unknown."""
        return self._known.get(line) or self._before.get(line, ())

    def prepare(self, lines: Sequence[str], first: int, last: int, deadline: float = inf) -> int | None:
        """Compute the colors of lines `first` to `last` (inclusive) of the block, whose text so far is `lines`.

        Returns the first line whose colors have changed, or None. Raises SlowCode at the deadline.
        """
        changed: list[int] = []
        line, last = first, min(last, len(lines) - 1)
        while line <= last:
            if self._is_settled(line, len(lines)):
                line += 1
            else:
                line = self._lex(lines, line, changed, deadline)
        return min(changed, default=None)

    def _is_settled(self, line: int, count: int) -> bool:
        if line not in self._known:
            return False
        return self._unsure_from is None or line < self._unsure_from or count == self._unsure_until

    def _lex(self, lines: Sequence[str], line: int, changed: list[int], deadline: float) -> int:
        """Lex some lines around `line`, and return the line after them."""
        start = self._beginnings[bisect_right(self._beginnings, line) - 1]
        if slice_end(lines, start, _FAR + 1) <= line:
            near = max(0, line - _BATCH)
            start = near if slice_end(lines, near, _FAR) > line else line
        end = slice_end(lines, line, _BATCH)
        colours, after = self._lexer.colours(lines[start:end], self._states.get(start, ()), deadline)
        while after is None and end < len(lines) and end - start < 2 * _FAR:
            end = slice_end(lines, end, 2 * _BATCH)
            colours, after = self._lexer.colours(lines[start:end], self._states.get(start, ()), deadline)
        if end == len(lines):
            self._unsure_from, self._unsure_until = (start if after is None else None), end
        if after is None and end - start >= 2 * _FAR:
            after = ()
        if after is not None and end not in self._states:
            self._states[end] = after
            insort(self._beginnings, end)
        changed += [number for number, found in enumerate(colours, start) if found != self.at(number)][:1]
        self._known.update(enumerate(colours, start))
        return end
