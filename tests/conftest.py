"""Settings for every test process: bytecode, garbage collector, Hypothesis, and signals in programs that tests start.

A started app allocates hundreds of thousands of objects. With the default threshold, the collector traverses them and
every imported module again and again, which takes two fifths of the CPU time of a test of a screen.
"""

import contextlib
import gc
import os
import signal
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

# A busy machine is slow, which says nothing about the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# A shell starts background jobs with SIGINT and SIGQUIT ignored, and `nohup` ignores SIGHUP: the programs that the
# tests interrupt would inherit that.
with contextlib.suppress(ValueError):  # not in the main thread
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Where Python is to write no bytecode beside the sources, each of the hundreds of programs that the tests start would
# compile every module that it imports, and each pytest-xdist worker every test.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parents[1] / ".pytest_cache" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

gc.set_threshold(200_000, 20, 20)


def pytest_collection_finish() -> None:
    """Keep the collector from traversing what the imports allocated, which lives until the process ends."""
    gc.collect()
    gc.freeze()
