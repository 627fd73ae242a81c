"""Settings of the garbage collector for every test process.

A started app allocates hundreds of thousands of objects. With the default threshold, the collector traverses them and
every imported module again and again, which takes two fifths of the CPU time of a test of a screen.
"""

import gc

gc.set_threshold(20_000, 20, 20)


def pytest_collection_finish() -> None:
    """Keep the collector from traversing what the imports allocated, which lives until the process ends."""
    gc.collect()
    gc.freeze()
