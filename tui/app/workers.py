"""Start of Textual workers."""

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

from textual.dom import DOMNode
from textual.worker import Worker

T = TypeVar("T")


def start_worker(
    node: DOMNode, work: Callable[[], Coroutine[Any, Any, T]], *, group: str, exclusive: bool = False
) -> Worker[T]:
    """Run a coroutine function in a worker of the node; with `exclusive` it cancels the workers of the same group.

    It takes the function: a coroutine whose worker is cancelled before it starts would never be awaited.
    """
    return node.run_worker(cast("Callable[[], Coroutine[None, None, T]]", work), group=group, exclusive=exclusive)
