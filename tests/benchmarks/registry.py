"""What a benchmark is: a function that measures and returns figures, registered when its module is imported."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table: this project beside the bare lower bound of the same run.

    `reach` is the most that `reach_of` may be: `ours`, or the ratio `ours / bare`. None: only reported.
    """

    name: str
    unit: str
    ours: float
    bare: float | None = None
    reach: float | None = None
    reach_of: Literal["ours", "ratio"] = "ours"

    @property
    def ratio(self) -> float | None:
        """Ours by bare; None without a bound."""
        return self.ours / self.bare if self.bare else None

    @property
    def is_reached(self) -> bool | None:
        """Whether the figure is reached; None where there is no limit."""
        value = self.ours if self.reach_of == "ours" else self.ratio
        return None if self.reach is None or value is None else value <= self.reach


Measure = Callable[[], Iterable[Figure]]
_KNOWN: dict[str, Measure] = {}
_LONG: set[str] = set()


def benchmark(name: str, *, long: bool = False) -> Callable[[Measure], Measure]:
    """Register a benchmark under a name by which it can be asked for; a `long` one is run only if it is named."""

    def register(measure: Measure) -> Measure:
        _KNOWN[name] = measure
        if long:
            _LONG.add(name)
        return measure

    return register


def known_benchmarks() -> dict[str, Measure]:
    """All that are registered, by name."""
    return dict(sorted(_KNOWN.items()))


def default_benchmarks() -> list[str]:
    """Return the names of those that are run if none is named."""
    return [name for name in known_benchmarks() if name not in _LONG]


def table(figures: Iterable[Figure]) -> Iterator[str]:
    """The lines of the table."""
    yield f"{'figure':58} {'ours':>9} {'bare':>9} {'ratio':>6} {'unit':10} {'reach':>12}"
    for figure in figures:
        bare = "" if figure.bare is None else f"{figure.bare:9.3f}"
        ratio = "" if figure.ratio is None else f"{figure.ratio:6.2f}"
        reach = "" if figure.reach is None else f"≤ {figure.reach:g}{' ×' if figure.reach_of == 'ratio' else ''}"
        mark = {None: "", True: "✓", False: "✗"}[figure.is_reached]
        yield f"{figure.name:58} {figure.ours:9.3f} {bare:>9} {ratio:>6} {figure.unit:10} {reach:>10} {mark}"
