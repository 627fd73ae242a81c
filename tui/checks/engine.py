"""The JavaScript pattern engine. No other module depends on which engine it is, so that it can be replaced.

The engine is quickjs-ng. Its patterns are those of V8, except those that `_PROGRAM` refuses in `fault`. Offsets are
UTF-16 units.
"""

import importlib.util
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tui.model.results import MOST_SPANS

_MEMORY = 256 * 1024 * 1024
# A call ends after the pattern that is running when this much time has passed, so that each has its whole limit.
_BATCH_SECONDS = 0.02
_PROGRAM = r"""
(() => {
  const known = new Map();
  let text = "", jobs = [], at = 0, count = 0, spans = [], done = [], running = false;
  // Three things that the engine reads in its own way: it minds the order of the numbers in `{2,1`, also where no `}`
  // follows and all of it is plain text; when it counts groups, it overlooks the character after `(?<name>`; and
  // `[\w-a-z]` is to it the range `a-z` with `\w` and `-`, not five parts of their own (and `[\w--z]` the range `--z`).
  const special = /\{\d|\(\?<[^=!]|\\[dDsSwW]-/;
  const token = /\\[^]|\[((?:\\[^]|[^\]\\])*)\]|\{(\d+),(\d+)(?![\d}])|\(\?<(?![=!])[^>]*>(?=[(\[\\])/g;
  const source = (pattern) => !special.test(pattern) ? pattern : pattern.replace(token, (found, body, least, most) => {
    if (body !== undefined) return `[${ranges(body)}]`;
    if (found[0] === "(") return found + "(?:)";
    return +most < +least ? "\\" + found : found;
  });
  const atom = String.raw`(\\(?:c\w|x[\da-fA-F]{2}|u[\da-fA-F]{4}|[0-3][0-7]{0,2}|[4-7][0-7]?|(?=c)|[^])|[^\\])`;
  const range = new RegExp(`${atom}(?:-${atom}(-?))?`, "g");
  const isSet = (part) => /^\\[dDsSwW]$/.test(part);
  const ranges = (body) => {
    let done = body[0] === "^" ? "^" : "", match;
    range.lastIndex = done.length;
    while (range.lastIndex < body.length && (match = range.exec(body)) !== null) {
      const [found, low, high, dash] = match;
      const end = dash ? found.length - 1 : found.length;
      range.lastIndex = match.index + end;
      done += isSet(low) && high === "-" ? low + "-\\-" : found.slice(0, end);
      done += dash && (isSet(low) || isSet(high)) ? "\\" : "";
    }
    return done;
  };
  const compiled = (pattern) => {
    let regex = known.get(pattern);
    if (regex === undefined) {
      regex = new RegExp(source(pattern), "gi");
      if (known.size >= 1024) known.clear();
      known.set(pattern, regex);
    }
    return regex;
  };
  const plain = (given) => typeof given === "string" ? given : given[0];
  const settle = () => {
    done.push(count, spans.length);
    for (const each of spans) done.push(each);
    at += 2, count = 0, spans = [], running = false;
  };
  const report = () => {
    const flat = done.join();
    done = [];
    return flat;
  };
  return {
    load: (given, ...searches) => {
      text = plain(given);
      jobs = searches, at = 0, count = 0, spans = [], done = [], running = false;
    },
    search: () => {
      const end = Date.now() + BATCH_MS;
      while (at < jobs.length) {
        running = true;
        const regex = compiled(plain(jobs[at]));
        regex.lastIndex = jobs[at + 1];
        let match;
        while ((match = regex.exec(text)) !== null) {
          if (++count <= MOST_SPANS) spans.push(match.index, regex.lastIndex);
          if (regex.lastIndex === match.index) regex.lastIndex++;
        }
        settle();
        if (Date.now() >= end) break;
      }
      return report();
    },
    // First whether it was in the middle of a pattern: it may also have been between two, or done. All in one join:
    // a long text made by adding two cannot be read from Python.
    interrupted: () => {
      const inside = running;
      if (inside) settle();
      done.unshift(inside ? 1 : 0);
      return report();
    },
    fault: (given) => {
      const pattern = source(plain(given));
      try {
        new RegExp(pattern, "i");
      } catch (error) {
        return error.message;
      }
      if (!pattern.includes("(?")) return "";
      const bare = pattern.replace(token, (found) => found[0] === "(" ? found : "x");
      if (/\(\?[ims]*-?[ims]+:/.test(bare)) return "group modifier";
      const names = bare.match(/\(\?<(?![=!])/g);
      if (names === null) return "";
      const classes = (pattern.match(token) ?? []).filter((found) => found[0] === "[");
      if (classes.some((found) => (found.match(/\\[^]/g) ?? []).includes("\\k"))) return "class name";
      const groups = new RegExp("|" + pattern).exec("").groups;
      return Object.keys(groups).length < names.length ? "duplicate group name" : "";
    },
  };
})()
""".replace("BATCH_MS", str(int(_BATCH_SECONDS * 1000))).replace("MOST_SPANS", str(MOST_SPANS))


def engine_folder() -> str:
    """Return the folder that a process needs on its path to load the engine. Raises OSError if there is none."""
    package = importlib.util.find_spec("quickjs")
    if package is None or package.origin is None:
        raise OSError("the package `quickjs-ng` is not installed")
    return str(Path(package.origin).parent.parent)


class Found(NamedTuple):
    """The result of one search: the number of matches, and the first 1,000 as a flat list `[start, end, start, …]`.

    `end` is why the search stopped before the end of the text, else empty; `reason` is the engine's error for a pattern
    that cannot be compiled.
    """

    total: int
    offsets: list[int]
    end: Literal["", "slow", "memory", "invalid"] = ""
    reason: str = ""


class Engine:
    """A JavaScript engine for the thread that created it. It remains usable after a search exceeds a limit."""

    def __init__(self) -> None:
        import quickjs

        self._error: type[Exception] = quickjs.JSException
        self._context = quickjs.Context()
        self._context.set_memory_limit(_MEMORY)
        self._context.eval("const engine = " + _PROGRAM)
        self._load, self._search, self._interrupted, self._fault = (
            self._context.eval(f"engine.{name}") for name in ("load", "search", "interrupted", "fault")
        )

    def fault(self, pattern: str) -> str:
        """Return the engine's error for a pattern, empty if the pattern is valid.

        Besides invalid patterns it refuses group modifiers (`(?i:…)`) and duplicate group names (ES2025), which the V8
        of Node 20 refuses and later versions accept.
        """
        self._context.set_time_limit(-1)
        try:
            return str(self._fault(self._string(pattern)))
        except self._error as error:
            return _first_line(error)

    def search(
        self, text: str, searches: Sequence[tuple[str, int]], seconds: Callable[[], float]
    ) -> Iterator[list[Found]]:
        """Find all matches of each pattern from its offset on, and yield the results in batches, in order.

        `seconds` is called before each batch and returns the processor time of each of its patterns. A batch ends after
        a pattern that was stopped. The memory of the engine is limited.
        """
        flat = (part for pattern, start in searches for part in (self._string(pattern), start))
        self._context.set_time_limit(-1)
        self._load(self._string(text), *flat)
        left = len(searches)
        try:
            while left:
                found = self._batch(seconds())
                left -= len(found)
                yield found
        finally:
            self._context.set_time_limit(-1)
            self._load("")

    def _batch(self, seconds: float) -> list[Found]:
        self._context.set_time_limit(seconds + _BATCH_SECONDS)
        try:
            return _unpack(self._search())
        except self._error as error:
            words = _first_line(error)
        self._context.set_time_limit(-1)
        is_inside, _, flat = str(self._interrupted()).partition(",")
        found = _unpack(flat)
        if is_inside == "0":
            return found
        how: Literal["slow", "memory", "invalid"] = "invalid"
        if "interrupted" in words:
            how = "slow"
        elif "out of memory" in words:
            how = "memory"
        found[-1] = found[-1]._replace(end=how, reason=words)
        return found

    def _string(self, text: str) -> Any:
        """Return the text as an argument. Halves of surrogate pairs cannot be passed, but be read from JSON."""
        try:
            text.encode()
        except UnicodeEncodeError:
            return self._context.parse_json(json.dumps([text]))
        return text


def _first_line(error: Exception) -> str:
    """Return the engine's message without the name of the error's type."""
    return str(error).partition("\n")[0].partition(": ")[2]


def _unpack(flat: str) -> list[Found]:
    numbers = list(map(int, flat.split(","))) if flat else []
    found, at = [], 0
    while at < len(numbers):
        end = at + 2 + numbers[at + 1]
        found.append(Found(numbers[at], numbers[at + 2 : end]))
        at = end
    return found
