"""What a fault in YAML's syntax means, and what to do about it."""

import yaml

from tui.model.sanitize import show_line

_HINTS = (
    ("violates indentation", "indent with spaces only"),
    ("cannot start any token", "put the text in quotes, and indent with spaces only"),
    ("mapping values are not allowed", "a text with `: ` in it needs quotes; otherwise check the indentation"),
    ("could not find expected ':'", "a key needs a colon; a text over several lines needs quotes or `|`"),
    ("did not find expected key", "check the indentation, and quotes inside a quoted text"),
    ("did not find expected '-' indicator", "check the indentation of the list"),
    ("did not find expected ',' or ']'", "a comma or `]` is missing; a text with `[` or `{` in it needs quotes"),
    ("did not find expected ',' or '}'", "a comma or `}` is missing; a text with `[` or `{` in it needs quotes"),
    ("did not find expected node content", "a value is missing here; a text that begins with a sign needs quotes"),
    ("unknown escape character", "put patterns in single quotes, where a backslash is only a backslash"),
    ("unexpected end of stream", "close the quotation mark"),
    ("alphabetic or numeric", "a text that begins with `*` or `&` needs quotes"),
    ("block sequence entries are not allowed", "begin the list on a line of its own"),
    ("hexadecimal", "put patterns in single quotes, where a backslash is only a backslash"),
)


def explain(error: yaml.MarkedYAMLError) -> str:
    """The parser's words with what to do."""
    problem = show_line(str(error.problem or error.context or "cannot be read"), 100)
    hint = next((hint for sign, hint in _HINTS if sign in problem), "check the syntax, and quote texts with signs")
    return f"{problem}; {hint}"
