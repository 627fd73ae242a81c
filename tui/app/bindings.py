"""Key bindings with an id, which the config uses to assign another key to an action."""

from textual.binding import Binding


def bind(
    key: str, action: str, id: str, tooltip: str, label: str = "", shown: str | None = None, *, priority: bool = False
) -> Binding:
    """Return a binding with an id for the keymap of the config.

    The footer shows `label`; the help and the command palette show `tooltip`. Without a label the footer omits the
    binding. `shown` is the text for the key, if it differs from `key`.
    """
    description = label or tooltip
    return Binding(
        key, action, description, id=id, tooltip=tooltip, show=bool(label), key_display=shown, priority=priority
    )
