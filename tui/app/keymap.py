"""The keys of the app: those that screens share, their order, and the check of the keys in the config."""

import re
import string
import unicodedata
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType
from typing import Any

from textual.app import App
from textual.binding import ActiveBinding, Binding
from textual.dom import DOMNode
from textual.keys import KEY_NAME_REPLACEMENTS, Keys
from textual.screen import ModalScreen, Screen

import tui.app
from tui.app.bindings import bind
from tui.app.theme.themed_app import ThemedApp
from tui.model.sanitize import sanitize_line
from tui.model.suggest import did_you_mean

_MODIFIERS = frozenset(("ctrl", "alt", "shift", "super", "hyper", "meta"))
_PUNCTUATION = (unicodedata.name(sign).lower().replace("-", "_").replace(" ", "_") for sign in string.punctuation)
_NAMED_KEYS = frozenset((*(key.value for key in Keys), *KEY_NAME_REPLACEMENTS.values(), *_PUNCTUATION))
_ACTION = re.compile(r"\{([a-z_.]+)\}")

_SHARED = (
    bind("m", "", "look.matrix", "Matrix: all cases × all models", "matrix"),
    bind("C", "", "look.compare", "Compare two answers word by word", "compare"),
    bind("v", "", "look.review", "Review: score the risk of answers", "review"),
    bind("H", "", "look.runs", "Runs: all saved runs", "runs"),
    bind("O", "", "look.export", "Export a report of the run", "export"),
    bind("I", "", "look.figures", "Figures and statistics", "figures"),
    bind("slash", "", "look.filter", "Filter", "filter", "/"),
    bind("ctrl+f", "", "look.search", "Search all saved answers"),
    bind("g", "", "look.jump", "Go to a case by a part of its name"),
    bind("z", "", "pane.zoom", "Zoom, or restore the layout"),
    bind("left_square_bracket", "", "tabs.before", "Previous tab", shown="["),
    bind("right_square_bracket", "", "tabs.next", "Next tab", shown="]"),
    bind("comma", "", "look.case-before", "Previous case", shown=","),
    bind("full_stop", "", "look.next-case", "Next case", shown="."),
    bind("n", "", "answer.next-match", "Next match"),
    bind("N", "", "answer.previous-match", "Previous match"),
    bind("s", "", "look.sort", "Sort the list"),
    bind("S", "", "look.suites", "Show or hide the list at the left"),
    bind("R", "", "run.suite", "Run the whole suite", "run all"),
    bind("f", "", "run.failed", "Rerun failed trials", "rerun failed"),
    bind("P", "", "run.pause", "Pause or continue the run", "pause"),
    bind("X", "", "run.cancel-all", "Cancel the run and all queued runs"),
    bind("greater_than_sign", "", "run.more", "Raise concurrency", shown=">"),
    bind("less_than_sign", "", "run.fewer", "Lower concurrency", shown="<"),
)
SHARED_KEYS: Mapping[str, Binding] = MappingProxyType({binding.id or "": binding for binding in _SHARED})
"""The keys that have the same meaning on every screen, by their ids."""

REPLACED_IDS: Mapping[str, str] = MappingProxyType(
    {
        "check.next-match": "answer.next-match",
        "check.previous-match": "answer.previous-match",
        "compare.case-before": "look.case-before",
        "compare.next-case": "look.next-case",
        "compare.standing": "look.figures",
        "diff.match-before": "answer.previous-match",
        "diff.next-match": "answer.next-match",
        "diff.search": "look.filter",
        "matrix.cancel-all": "run.cancel-all",
        "matrix.compare": "look.compare",
        "matrix.differing-before": "answer.previous-match",
        "matrix.fewer": "run.fewer",
        "matrix.filter": "look.filter",
        "matrix.leave": "look.matrix",
        "matrix.more": "run.more",
        "matrix.next-differing": "answer.next-match",
        "matrix.pause": "run.pause",
        "matrix.review": "look.review",
        "matrix.run-all": "run.suite",
        "matrix.run-failed": "run.failed",
        "matrix.sort": "look.sort",
        "matrix.statistics": "look.figures",
        "provider.leave": "form.leave",
        "review.figures": "look.figures",
        "review.filter": "look.filter",
        "review.forward": "look.next-case",
        "review.match-before": "answer.previous-match",
        "review.next-match": "answer.next-match",
        "review.queue": "look.suites",
        "review.report": "look.export",
        "review.sort": "look.sort",
        "review.zoom": "pane.zoom",
        "runs.compare": "look.compare",
        "runs.export": "look.export",
        "runs.failed": "run.failed",
        "runs.filter": "look.filter",
        "runs.review": "look.review",
        "setting.leave": "form.leave",
        "settings.leave": "form.leave",
    }
)
"""The ids that earlier versions had for actions that have other ids now."""


def shared(id: str, action: str, tooltip: str = "", *, label: str | None = None, priority: bool = False) -> Binding:
    """Return the binding of a screen or widget for a shared key, with the tooltip and label of the table or its own.

    With an empty `label` the footer omits the binding.
    """
    binding = SHARED_KEYS[id]
    tooltip = tooltip or binding.tooltip
    if label is None:
        label = binding.description if binding.show else ""
    return bind(binding.key, action, id, tooltip, label, binding.key_display, priority=priority)


def bindings_in_order(screen: Screen[Any]) -> list[ActiveBinding]:
    """Return the active bindings of a screen in the order of their definition, even if the config changed the keys."""
    active = list(screen.active_bindings.values())
    nodes = list(dict.fromkeys(each.node for each in active))
    places = {
        (node, binding.id): place
        for node in nodes
        for place, binding in enumerate(type(node).BINDINGS)
        if isinstance(binding, Binding)
    }
    last = len(places)
    active.sort(key=lambda each: (nodes.index(each.node), places.get((each.node, each.binding.id), last)))
    return active


def with_keys(screen: Screen[Any], text: str) -> str:
    """Return a text with the displayed keys of the actions in braces: `Press {run_case} to run this case.`"""
    if "{" not in text:
        return text
    keys = {binding.action: binding for binding in reversed([*_moved_bindings(screen)])}  # the first key of each
    return _ACTION.sub(lambda found: screen.app.get_key_display(keys[found[1]]) if found[1] in keys else found[0], text)


def key_of(screen: Screen[Any], binding_id: str) -> str:
    """Return the displayed key of a binding of the screen, also while an input has the focus; empty if it has none."""
    return keys_of(screen, binding_id)[0]


def keys_of(screen: Screen[Any], *binding_ids: str) -> list[str]:
    """Return the displayed key of each of several bindings, as `key_of` returns one."""
    shown: dict[str | None, str] = {}
    for binding in _moved_bindings(screen, binding_ids):
        if binding.id not in shown:
            shown[binding.id] = screen.app.get_key_display(binding)
    return [shown.get(binding_id, "") for binding_id in binding_ids]


def _moved_bindings(screen: Screen[Any], ids: Container[str | None] | None = None) -> Iterator[Binding]:
    """Yield the bindings of a screen and its app, all or those with `ids`, with the keys that the config gives them,
    one for each key."""
    keymap = screen.app.keymap if isinstance(screen.app, ThemedApp) else {}
    for node in (type(screen), type(screen.app)):
        for binding in _bindings_of(node):
            if ids is None or binding.id in ids:
                yield from _moved(binding, keymap)


def _moved(binding: Binding, keymap: Mapping[str, str]) -> Iterable[Binding]:
    keys = keymap.get(binding.id or "")
    return Binding.make_bindings([replace(binding, key=keys, key_display=None) if keys else binding])


def keymap_problems(keymap: Mapping[str, str]) -> list[str]:
    """Return a sentence for each unknown id and key in `keymap`, and for each key that two actions of a screen have.

    Imports all screens: call it in a thread.
    """
    bindings = bindings_of_app()
    known = _ids_of(bindings)
    problems = [_unknown(name, known) for name in keymap if name not in known]
    for name in keymap:
        unknown = [each.key for each in _moved(Binding("", "", id=name), keymap) if not _is_key(each.key)]
        problems += [
            f"keys: {sanitize_line(name, 60)} has an unknown key: {sanitize_line(key, 60)}." for key in unknown
        ]
    for node, found in bindings.items():
        below = issubclass(node, Screen) and not issubclass(node, ModalScreen)
        beside = [*found, *_app_bindings(bindings)] if below else found
        problems += _conflicts(beside, keymap)
    return list(dict.fromkeys(problems))


def id_fault(name: str) -> str:
    """Return why a name is not the id of an action, empty if it is one. Imports all screens: call it in a thread."""
    known = _ids_of(bindings_of_app())
    return "" if name in known else _unknown(name, known)


def _ids_of(bindings: Mapping[type[DOMNode], list[Binding]]) -> set[str]:
    return {binding.id for found in bindings.values() for binding in found if binding.id}


def bindings_of_app() -> dict[type[DOMNode], list[Binding]]:
    """Return the bindings of every screen and widget of the app. Imports all of them: call it in a thread."""
    return {node: list(_bindings_of(node)) for node in _nodes()}


def _nodes() -> list[type[DOMNode]]:
    """Return every class of the app that has bindings."""
    import pkgutil  # here, because the import would delay the first paint

    for module in pkgutil.walk_packages(tui.app.__path__, "tui.app."):
        import_module(module.name)
    found: list[type[DOMNode]] = []
    below = list(DOMNode.__subclasses__())
    while below:
        node = below.pop()
        below += node.__subclasses__()
        if node.__module__.startswith("tui.") and node not in found:
            found.append(node)
    return found


def _app_bindings(bindings: Mapping[type[DOMNode], list[Binding]]) -> list[Binding]:
    return [binding for node, found in bindings.items() if issubclass(node, App) for binding in found]


def _bindings_of(node: type[DOMNode]) -> Iterator[Binding]:
    for binding in vars(node).get("BINDINGS", ()):
        if isinstance(binding, Binding):
            yield binding


def _conflicts(bindings: list[Binding], keymap: Mapping[str, str]) -> Iterator[str]:
    by_key: dict[str, str] = {}
    for binding in sorted(bindings, key=lambda each: each.id not in keymap):
        name = binding.id or ""
        for each in _moved(binding, keymap):
            other = by_key.setdefault(each.key, name)
            if other != name and (other in keymap or name in keymap):
                yield f"keys: {other} and {name} have the same key {sanitize_line(each.key, 30)}."


def _is_key(key: str) -> bool:
    """Return whether Textual has a key of this name, such as `ctrl+r`, `f5` or `left_curly_bracket`."""
    *modifiers, name = key.split("+")
    if key in _NAMED_KEYS:
        return True
    if not _MODIFIERS.issuperset(modifiers):
        return False
    if len(name) == 1 or name in _NAMED_KEYS:
        return True
    try:
        return bool(unicodedata.lookup(name.replace("_", " ")))
    except KeyError:
        return False


def _unknown(name: str, known: set[str]) -> str:
    if name in REPLACED_IDS:
        return f"keys: {name} is now {REPLACED_IDS[name]}, on all screens. docs/keys.md lists all ids."
    return f"keys: unknown id {sanitize_line(name, 60)}. {did_you_mean(name, known)}docs/keys.md lists all ids."
