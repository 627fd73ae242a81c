"""`assay` with a bug: `python -m tests.hostile.broken MODULE:FUNCTION TEXT ARG…`.

The function raises an error with that text whenever it is called. A log message, a warning and a thread's traceback
with the text are written first.
"""

import logging
import sys
import threading
import warnings
from importlib import import_module
from typing import Any

from tui.__main__ import main


def break_function(place: str, text: str) -> None:
    """Replace a function, or a method, by one that fails."""

    def fail(*_args: Any, **_options: Any) -> Any:
        logging.getLogger("library").error("logged %s", text)
        warnings.warn(f"warned {text}", stacklevel=1)
        thread = threading.Thread(target=_fail, args=(text,))
        thread.start()
        thread.join()
        _fail(text)

    module, _, name = place.partition(":")
    owner: Any = import_module(module)
    *way, name = name.split(".")
    for step in way:
        owner = getattr(owner, step)
    setattr(owner, name, fail)


def _fail(text: str) -> None:
    raise RuntimeError(f"raised {text}")


if __name__ == "__main__":
    break_function(sys.argv[1], sys.argv[2])
    sys.argv = ["assay", *sys.argv[3:]]
    main()
