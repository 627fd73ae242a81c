"""The lines of settings and themes in their lists, and the details of a setting."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tui.app.presentation.fuzzy import fold_case, marked, matching_places, rank_entries
from tui.app.presentation.pieces import Line, Piece, cut, cut_middle, spread, width_of
from tui.app.theme.palette import DEFAULT_PALETTE
from tui.model.sanitize import sanitize_line

if TYPE_CHECKING:
    from tui.session.settings import Setting

_LONGEST = 2_000
_NAME_WIDTH = 34
_EFFECTS = {
    "theme": "A change applies at once.",
    "keys": "A change applies at once.",
    "models": "A change applies to the next run.",
    "rules": "A change applies to the next run.",
    "prices": "A change applies to the next run.",
    "risk": "A change applies to reviews that are opened from now on.",
    "review": "A change applies to reviews that are opened from now on.",
    "reviewer": "A change applies to reviews that are opened from now on.",
    "providers": "Variables are read when Assay starts: restart it after you have changed one.",
}


class ThemeEntry(NamedTuple):
    """A theme in the list, or a theme file with its problem, which has no name."""

    name: str
    fault: str = ""


def find_settings(query: str, settings: "Sequence[Setting]") -> "Sequence[Setting]":
    """Return the settings that match a query in name, value or description, the best first."""
    if not query.strip():
        return settings
    return rank_entries(query, settings, lambda each: tuple(map(fold_case, (each.name, each.text, each.description))))


def find_themes(query: str, themes: Sequence[ThemeEntry]) -> Sequence[ThemeEntry]:
    """Return the themes that match a query, the best first."""
    return rank_entries(query, themes, lambda each: (fold_case(each.name or each.fault),)) if query.strip() else themes


def setting_line(setting: "Setting", query: str, width: int) -> Line:
    """Return the line of a setting: its name with the matching letters marked, its value, and its origin."""
    name_width = min(_NAME_WIDTH, max(12, width // 2))
    name = cut_middle(sanitize_line(setting.name, _LONGEST), name_width)
    (places,) = matching_places(query, (fold_case(name),))
    is_set = setting.origin != "default"
    left: list[Piece] = [(" ", "plain"), *marked(name, places, "strong" if is_set else "plain")]
    left.append((" " * (name_width + 1 - width_of(name)), "plain"))
    text = sanitize_line(setting.text, _LONGEST)
    left.append((text or "not set", "plain" if text and is_set else "dim"))
    origin = "" if setting.kind == "section" else setting.origin
    return spread(left, ((cut(origin, width // 3), "accent" if is_set else "dim"), (" ", "plain")), width)


def theme_line(theme: ThemeEntry, query: str, width: int) -> Line:
    """Return the line of a theme, or of a theme file that cannot be used, with its problem."""
    if theme.fault:
        file = sanitize_line(theme.fault.partition(":")[0].rpartition("/")[2], _LONGEST)
        return spread(
            ((" ", "plain"), ("! ", "error"), (file, "dim")), (("has errors", "error"), (" ", "plain")), width
        )
    (places,) = matching_places(query, (fold_case(theme.name),))
    return spread(((" ", "plain"), *marked(theme.name, places, "plain")), (), width)


def setting_details(setting: "Setting") -> str:
    """Return what a setting means, its default, where its value is from, and when a change applies."""
    lines = [setting.description or setting.name]
    where = f" {setting.place}" if setting.place else ""
    if setting.kind != "section":
        default = setting.default or (DEFAULT_PALETTE.name if setting.path == ("theme",) else "")
        default = f"Default: {default}. " if default else ""
        lines.append(f"{default}Value from: {setting.origin}{where}.")
    lines.append(_EFFECTS[setting.path[0]])
    return "\n".join(sanitize_line(line, _LONGEST) for line in lines)
