"""Pausing the garbage collector while many objects are created."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collector() -> Iterator[None]:
    """Disable garbage collection inside the `with` block.

    Use it to create tens of thousands of long-lived objects, which the collector would otherwise traverse again and
    again.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
