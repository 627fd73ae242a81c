"""Display names of models, identical on every screen, and as short as they remain distinct."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import unquote

from tui.app.presentation.pieces import cut_middle, width_of
from tui.model.sanitize import sanitize_line
from tui.model.subjects import REPLAY

_WORDS = {"temperature": "temp", "max_tokens": "max"}
_BETWEEN = " · "
_LEAST_ID = 5
_WHOLE = ("http://", "https://", "cmd:")
_AGAIN = "↺"
_RUN_ID = 12


class _Parts(NamedTuple):
    """The parts of a model name: the provider and path, the id, and the settings."""

    home: tuple[str, ...]
    id: str
    settings: tuple[str, ...]


def model_names(models: Sequence[str]) -> list[str]:
    """Return a display name for each model, with as much of its path as distinguishes the models.

    `local/smollm2-135m?temperature=0.8&seed=7` becomes `smollm2-135m · temp 0.8 · seed 7`.
    """
    parts = [_parts_of(model) for model in models]
    deepest = max((len(each.home) for each in parts), default=0)
    for depth in range(deepest + 1):
        names = [_BETWEEN.join((_id_with_home(each, depth), *each.settings)) for each in parts]
        if _different(names, models):
            return names
    return [sanitize_line(model) for model in models]


def joined_names(models: Sequence[str]) -> str:
    """Return the names on one line; consecutive variants of a model name it once."""
    names: list[str] = []
    before = ""
    for name in model_names(models):
        id, dot, settings = name.partition(_BETWEEN)
        names.append(settings if dot and id == before else name)
        before = id
    return ", ".join(names)


def fitted_names(models: Sequence[str], width: int) -> list[str]:
    """Return names of at most `width` cells each.

    Names that do not fit omit what they share, else they are cut in the middle, and numbered if they are not distinct
    then.
    """
    names = model_names(models)
    if all(width_of(name) <= width for name in names):
        return names
    shorter = _what_differs([_parts_of(model) for model in models])
    if _different(shorter, models):
        names = shorter
    cut = [_cut(name, width) for name in names]
    if _different(cut, models):
        return cut
    return [f"{number} {_cut(name, max(0, width - 2))}"[: max(1, width)] for number, name in enumerate(names, 1)]


def numbered_names(models: Sequence[str], number: int, width: int) -> list[str]:
    """Return names for a row of about `width` cells in which each name follows its number.

    If they do not fit, only the name at index `number` is given, and the others are empty.
    """
    names = model_names(models)
    if sum(width_of(name) + 4 for name in names) <= width:
        return names
    room = max(3, width - 3 * (len(names) - 1) - 2)
    return [fitted_names(models, room)[number] if place == number else "" for place in range(len(names))]


def _cut(name: str, width: int) -> str:
    """Cut a name to `width` cells: first the id, then the settings, because those usually distinguish the variants."""
    id, dot, settings = name.partition(_BETWEEN)
    room = width - width_of(dot + settings)
    return f"{cut_middle(id, room)}{dot}{settings}" if dot and room >= _LEAST_ID else cut_middle(name, width)


def _parts_of(model: str) -> _Parts:
    if model.startswith(_WHOLE):
        return _Parts((), sanitize_line(model), ())
    recorded = model.startswith(REPLAY)
    if recorded:
        _, run, model = (*model.split("/", 2), "")[:3]
        model = model or run
    base, _, settings = model.partition("?")
    *home, id = base.split("/")
    extras = tuple(_setting(each) for each in settings.split("&") if each)
    extras = (*extras, f"recorded {sanitize_line(run)[:_RUN_ID]}") if recorded else extras
    name = sanitize_line(id) or sanitize_line(base)
    return _Parts(tuple(sanitize_line(each) for each in home), f"{_AGAIN} {name}" if recorded else name, extras)


def _setting(text: str) -> str:
    key, _, value = text.partition("=")
    return sanitize_line(f"{_WORDS.get(key, key)} {unquote(value)}".rstrip())


def _id_with_home(parts: _Parts, depth: int) -> str:
    """Return the id of a model after the last `depth` parts of its path."""
    home = parts.home[len(parts.home) - depth :] if depth < len(parts.home) else parts.home
    return "/".join((*home, parts.id)) if depth else parts.id


def _what_differs(parts: Sequence[_Parts]) -> list[str]:
    """Return names without the settings that all models share, and without the id if all share it, too."""
    shared = set.intersection(*(set(each.settings) for each in parts)) if len(parts) > 1 else set()
    one_id = len(parts) > 1 and len({(each.home, each.id) for each in parts}) == 1
    names = []
    for each in parts:
        settings = [setting for setting in each.settings if setting not in shared]
        names.append(_BETWEEN.join(settings if one_id and settings else (each.id, *settings)))
    return names


def _different(names: Sequence[str], models: Sequence[str]) -> bool:
    """Return whether distinct models have distinct names."""
    return len(set(names)) == len(set(models))
