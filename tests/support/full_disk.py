"""Let files grow to a certain size only, as if the disk were full.

Python does not notice that it writes a part only of a compiled module, and no later process can import that. So nothing
compiled is written meanwhile.
"""

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HAS_FULL_DEVICE = Path("/dev/full").exists()
LIMIT_IN_SHELL = "export PYTHONDONTWRITEBYTECODE=1; ulimit -f"
"""The beginning of a line of shell. What follows is the limit in blocks of 512 bytes."""


def limit_size_of_files(size: int) -> None:
    """Let this process write no file that is larger, until it ends."""
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


@contextmanager
def no_larger_files(size: int) -> Iterator[None]:
    """Let this process write no file that is larger, while the context is open."""
    before, compiled = resource.getrlimit(resource.RLIMIT_FSIZE), sys.dont_write_bytecode
    limit_size_of_files(size)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = compiled
