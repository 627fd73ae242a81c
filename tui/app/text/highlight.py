"""Colours of code, line by line as it is seen: pygments loads on first use, and nothing that holds is lexed twice."""

import re
from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from pygments.lexer import Lexer

CodeRole = Literal["keyword", "function", "type", "string", "number", "comment", "operator"]


class CodeSpan(NamedTuple):
    """A part of a line of code, and what it is."""

    start: int
    end: int
    role: CodeRole


LineColours = tuple[CodeSpan, ...]

# Named one by one: a language's name comes from an answer, and each lexer is a heap of patterns run on its text.
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
_LONGEST_LINE = 1_000  # a longer one is not code that anybody reads, and slow patterns get slower with length
_BATCH = 60  # lines lexed at once, from the one that is asked for
_FAR = 240  # lines that are lexed only to know how a later one begins; beyond that a guess has to do
_FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
_OPEN_ENDED = re.compile(r"\AToken\.(Comment\.(Multiline|Special)|Literal\.String|Comment\Z)")


def knows_language(language: str) -> bool:
    """Whether code of this language, by any usual name, gets colours."""
    return language in _LEXERS


@lru_cache
def load_lexer(language: str) -> "CodeLexer":
    """The lexer of a language that is known; the first time takes tens of milliseconds, and any thread may do it."""
    module, name, state = _LEXERS[language]
    return CodeLexer(getattr(import_module(module), name), state)


class CodeLexer:
    """Lexes some lines from a state on, and says in which state they end."""

    def __init__(self, lexer: "type[Lexer]", state: str) -> None:
        from pygments.lexer import ExtendedRegexLexer, RegexLexer

        self._first_state = state
        self._resumes = issubclass(lexer, RegexLexer) and not issubclass(lexer, ExtendedRegexLexer)
        self._lexer: Any = _resumable(lexer)() if self._resumes else lexer()

    def colours(self, lines: Sequence[str], state: tuple[str, ...]) -> tuple[list[LineColours], tuple[str, ...] | None]:
        """The colours of each line, and the state after the last one: None in the middle of something that may yet
        turn out to be something else, such as an open comment. The state () is the language's own beginning."""
        short = [line if len(line) <= _LONGEST_LINE else "" for line in lines]
        begins = list(accumulate((len(line) + 1 for line in short), initial=0))
        stack = list(state or (self._first_state,))
        found: list[list[CodeSpan]] = [[] for _ in lines]
        last: object = None
        try:
            for at, kind, value in self._tokens("\n".join(short) + "\n", stack):
                last = kind
                role = _role_of(kind)
                if role is None:
                    continue
                line = bisect_right(begins, at) - 1
                for number, part in enumerate(value.split("\n"), line):
                    if part and number < len(found):
                        start = at - begins[line] if number == line else 0
                        found[number].append(CodeSpan(start, start + len(part), role))
        except _FAULTS:
            return [()] * len(lines), ()
        return [tuple(spans) for spans in found], None if _OPEN_ENDED.match(str(last)) else tuple(stack)

    def _tokens(self, text: str, stack: list[str]) -> Iterator[tuple[int, object, str]]:
        """The tokens of the text; at the end `stack` is the state there."""
        if not self._resumes:
            yield from self._lexer.get_tokens_unprocessed(text)
            return
        from pygments.lexer import LexerContext

        context = LexerContext(text, 0, stack=stack)
        yield from self._lexer.get_tokens_unprocessed(context=context)
        stack[:] = context.stack


def _resumable(lexer: "type[Lexer]") -> "type[Lexer]":
    """The lexer as one with a context: that is the only way in which pygments gives its state out."""
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
    """The colours of one block of code, whose lines come one after the other and are seen in any order."""

    def __init__(self, lexer: CodeLexer) -> None:
        self._lexer = lexer
        self._known: dict[int, LineColours] = {}
        self.begin_anew()

    def begin_anew(self) -> None:
        """All lines are there now: some constructs are only seen for what they are when their end is."""
        self._before, self._known = self._known, {}
        self._states: dict[int, tuple[str, ...]] = {0: ()}  # the state in which some lines begin
        self._beginnings = [0]
        self._unsure_from: int | None = None  # from this line on, colours may change with what follows
        self._unsure_until = 0

    def at(self, line: int) -> LineColours:
        """The colours of a line; none while they are not known."""
        return self._known.get(line) or self._before.get(line, ())

    def prepare(self, lines: Sequence[str], first: int, last: int) -> int | None:
        """Find the colours of lines `first` to `last` (inclusive) of the block's complete `lines`. Returns the first
        line that has got other colours, None where none has."""
        changed: list[int] = []
        line, last = first, min(last, len(lines) - 1)
        while line <= last:
            if self._is_settled(line, len(lines)):
                line += 1
            else:
                line = self._lex(lines, line, changed)
        return min(changed, default=None)

    def _is_settled(self, line: int, count: int) -> bool:
        if line not in self._known:
            return False
        return self._unsure_from is None or line < self._unsure_from or count == self._unsure_until

    def _lex(self, lines: Sequence[str], line: int, changed: list[int]) -> int:
        """Lex a stretch in which `line` is; returns its end."""
        start = self._beginnings[bisect_right(self._beginnings, line) - 1]
        if line - start > _FAR:
            start = line - _BATCH
        end = min(len(lines), line + _BATCH)
        colours, after = self._lexer.colours(lines[start:end], self._states.get(start, ()))
        while after is None and end < len(lines) and end - start < 2 * _FAR:
            end = min(len(lines), end + 2 * _BATCH)
            colours, after = self._lexer.colours(lines[start:end], self._states.get(start, ()))
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
