"""Runs the benchmarks and prints one table: this project beside a bare lower bound, in the same run.

usage: python -m tests.benchmarks [NAME …]
The soak is run only if it is named: it takes ASSAY_SOAK_MINUTES (30 by default).
Nothing else should be running: CPU figures grow when the cores are shared, ratios less so.
"""

import importlib
import pkgutil
import sys

from tests import benchmarks
from tests.benchmarks.registry import Figure, default_benchmarks, known_benchmarks, table


def main(names: list[str]) -> int:
    """Measure; 1 when a figure is not reached, 2 for a name that is not known."""
    for module in pkgutil.iter_modules(benchmarks.__path__):
        if module.name != "__main__" and not module.name.startswith("test_") and not module.name.endswith("_app"):
            importlib.import_module(f"tests.benchmarks.{module.name}")
    known = known_benchmarks()
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"No benchmark {', '.join(unknown)}; available: {', '.join(known)}", file=sys.stderr)
        return 2
    figures: list[Figure] = []
    for name in names or default_benchmarks():
        print(f"measuring {name} …", file=sys.stderr)
        figures += known[name]()
    print("\n".join(table(figures)))
    return int(any(figure.is_reached is False for figure in figures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
