"""The commands of the palette: the keys of the screen, and the main actions under the same names on every screen."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, cast

from textual.app import SystemCommand
from textual.binding import ActiveBinding, Binding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.screen import Screen

from tui.app.keymap import bindings_in_order
from tui.app.theme.themed_app import ThemedApp

NAMED: Mapping[str, str] = MappingProxyType(
    {
        "look.matrix": "Matrix",
        "look.compare": "Compare",
        "look.review": "Review",
        "look.runs": "Runs",
        "look.models": "Models",
        "app.settings": "Settings",
        "look.jump": "Jump to case",
        "look.search": "Search answers",
        "look.edit-check": "Edit pattern",
        "look.new-case": "New case",
        "look.edit": "Edit case",
        "filter.saved": "Save filter",
        "answer.render": "Rendered or raw",
        "look.export": "Export report",
    }
)
"""The names of the main actions in the palette, by the ids of their keys. They are the same on every screen."""

_LISTS = ("", "list", "tree", "line")
_FIRST_NAMED = 1000.0  # above every score of a match


class NamedCommands(Provider):
    """The commands of the palette; a command whose name begins with what was typed is the first."""

    async def discover(self) -> Hits:
        """Yield every command."""
        for title, help_text, callback, _ in self.app.get_system_commands(self.screen):
            yield DiscoveryHit(title, callback, help=help_text)

    async def search(self, query: str) -> Hits:
        """Yield the commands that match what was typed."""
        matcher = self.matcher(query)
        for title, help_text, callback, _ in self.app.get_system_commands(self.screen):
            if (score := matcher.match(title)) > 0:
                is_name = title.partition(":")[0].strip().casefold() == query.strip().casefold()
                yield Hit(score + is_name * _FIRST_NAMED, matcher.highlight(title), callback, help=help_text)


def commands_of(app: ThemedApp[Any], screen: Screen[Any], *, names_hidden: bool) -> Iterator[SystemCommand]:
    """Yield a command for each enabled key of a screen in their order, and for each main action.

    A main action that the screen does not offer notifies why. `names_hidden`: a blind review hides the names of models.
    """
    named: dict[str, ActiveBinding] = {}
    actions: set[str] = set()
    for active in bindings_in_order(screen):
        node, binding, enabled, tooltip = active
        id = binding.id or ""
        if id in NAMED:
            named.setdefault(id, active)
        if binding.action in actions:
            continue
        actions.add(binding.action)
        if id in NAMED and (not enabled or binding.action != "leave"):
            continue
        if enabled and id.partition(".")[0] not in _LISTS and id != "app.palette":
            title = f"{_description(tooltip or binding.description)}  {app.get_key_display(binding)}"
            yield SystemCommand(title, "", partial(app.run_action, binding.action, default_namespace=node))
    for id, name in NAMED.items():
        yield _named_command(app, screen, name, named.get(id), names_hidden=names_hidden)
    yield SystemCommand("Change theme", "", app.action_change_theme)


def _named_command(
    app: ThemedApp[Any], screen: Screen[Any], name: str, active: ActiveBinding | None, *, names_hidden: bool
) -> SystemCommand:
    """Return the command of a main action: it does what the key does, or notifies why it cannot be done."""
    if active is None:
        return SystemCommand(name, "", _inactive(app, screen, name, names_hidden=names_hidden))
    node, binding, enabled, tooltip = active
    description = _description(tooltip or binding.description)
    key = app.get_key_display(binding)
    if binding.action == "leave":
        return SystemCommand(name, "", _notify(screen, f"{name}: this screen is displayed already."))
    if description.startswith(f"{name}:"):
        title = f"{description}  {key}"
    else:
        title = f"{name}: {description[:1].lower()}{description[1:]}  {key}"
    if enabled:
        return SystemCommand(title, "", partial(app.run_action, binding.action, default_namespace=node))
    return SystemCommand(title, "", _inactive(app, screen, name, names_hidden=names_hidden))


def _inactive(app: ThemedApp[Any], screen: Screen[Any], name: str, *, names_hidden: bool) -> Callable[[], object]:
    """Return what a main action does whose key is not active: it notifies why, or does the same in another way."""
    own = {NAMED.get(each.id or ""): each.action for each in type(screen).BINDINGS if isinstance(each, Binding)}
    if name not in own:
        if name == "Save filter" and any(each.binding.action == "filter" for each in screen.active_bindings.values()):
            return partial(_save_filter, screen)
        return _notify(screen, f"{name}: go back to Explore to use this command.")
    if names_hidden:
        return _notify(screen, f"{name}: not available while names are hidden.")
    if own[name].startswith("app."):  # inactive only because its key is a character of the text that is typed
        return cast("Callable[[], object]", getattr(app, f"action_{own[name].removeprefix('app.')}"))
    return _notify(screen, f"{name}: select a case first.")


def _description(text: str) -> str:
    """Return a description of a key without its remark in brackets."""
    return text.partition("(")[0].strip()


def _notify(screen: Screen[Any], why: str) -> Callable[[], object]:
    return partial(screen.notify, why, severity="warning", markup=False)


async def _save_filter(screen: Screen[Any]) -> None:
    """Open the saved filters with the displayed filter, or the filter if there is none to save."""
    from tui.app.widgets.filter_line import FilterLine

    if not any(line.line.value.strip() for line in screen.query(FilterLine)):
        await screen.app.run_action("filter", default_namespace=screen)
        typed = "Save filter: type a filter, then choose this command again."
        fixed = "Save filter: filters of this screen cannot be saved."
        screen.notify(typed if screen.query(FilterLine) else fixed, severity="warning", markup=False)
        return
    screen.query_one(FilterLine).action_saved()
