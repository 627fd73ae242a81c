"""Bindings with an id, by which the config can give an action another key."""

from textual.binding import Binding


def bind(
    key: str, action: str, id: str, tooltip: str, label: str = "", shown: str | None = None, *, priority: bool = False
) -> Binding:
    """Return a binding: the footer shows `label`, help and palette show `tooltip`. Without a label it is in help and
    palette alone; `shown` is how the key is written."""
    description = label or tooltip
    return Binding(
        key, action, description, id=id, tooltip=tooltip, show=bool(label), key_display=shown, priority=priority
    )
