"""`assay` that is held at a moment: `python -m tests.hostile.held FOLDER EVENT PART ARG…`.

At the first audit event of that name whose first argument contains PART (for example `import tui.app.app`, `open
runs.sqlite`), it creates the file `held` in the folder and waits until the file `released` is there.
"""

import sys
import time
from pathlib import Path

from tui.__main__ import main

_PAUSE_SECONDS = 0.005


def hold(folder: Path, event: str, part: str) -> None:
    """Install the hook."""
    held, released = folder / "held", folder / "released"
    reached = False

    def hook(name: str, args: tuple[object, ...]) -> None:
        nonlocal reached
        if reached or name != event or part not in str(args[0]):
            return
        reached = True
        held.touch()
        while not released.exists():
            time.sleep(_PAUSE_SECONDS)

    sys.addaudithook(hook)


if __name__ == "__main__":
    hold(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
    sys.argv = ["assay", *sys.argv[4:]]
    main()
