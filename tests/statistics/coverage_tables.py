"""Writes the measured coverage of every interval and the error rates of every test into docs/statistics.md.

`uv run python -m tests.statistics.coverage_tables` takes about ten minutes; the seed is fixed.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.statistics.simulations import errors_of, rate_coverage, wilson_coverage

PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"
BEGIN, END = "<!-- coverage tables: begin -->", "<!-- coverage tables: end -->"
ROUNDS = 3_000
CORRELATIONS = (0.0, 0.1, 0.3, 0.6, 0.9, 1.0)
RATES = (0.5, 0.8, 0.9, 0.95, 0.98)


def tables(rounds: int = ROUNDS) -> Iterator[str]:
    """Yield the tables as Markdown."""
    yield (
        f"Simulated runs a cell: {rounds // 2:,} for rates over repeats, {rounds:,} for clusters and equivalence, "
        f"{rounds // 3:,} for three models. The standard error of a coverage of 95% in so many runs is "
        f"{2180 / (rounds / 2) ** 0.5 / 100:.1f}, {2180 / rounds**0.5 / 100:.1f} and "
        f"{2180 / (rounds / 3) ** 0.5 / 100:.1f} points.\n"
    )
    yield from _wilson()
    yield from _clustered(rounds // 2)
    yield from _clusters(rounds)
    yield from _differences(rounds)
    yield from _tests(rounds)
    yield from _equivalence(rounds)


def _wilson() -> Iterator[str]:
    yield "### Pass rate, each case run once (Wilson; exact, not simulated)\n"
    sizes = (5, 10, 20, 50, 100, 200)
    yield from _table(
        ["cases", *(f"rate {rate:g}" for rate in RATES)],
        [[str(size), *(_cell([wilson_coverage(size, rate)], size, rate) for rate in RATES)] for size in sizes],
    )


def _clustered(rounds: int) -> Iterator[str]:
    yield "### Pass rate, several repeats (clustered by case)\n"
    yield "Lowest to highest coverage over correlations within a case of 0, 0.1, 0.3, 0.6, 0.9 and 1.\n"
    rows = []
    for cases in (5, 10, 20, 50, 200):
        for repeats in (2, 3, 10):
            row = [str(cases), str(repeats)]
            for rate in RATES:
                found = [rate_coverage(rounds, cases, repeats, rate, each) for each in CORRELATIONS]
                row.append(_cell(found, cases, rate))
            rows.append(row)
    yield from _table(["cases", "repeats", *(f"rate {rate:g}" for rate in RATES)], rows)


def _clusters(rounds: int) -> Iterator[str]:
    yield "### Pass rate, cases in clusters of four\n"
    yield "Correlations as above, now within a cluster.\n"
    rows = []
    for clusters in (10, 25, 50):
        for repeats in (1, 3):
            row = [str(clusters), str(repeats)]
            for rate in (0.5, 0.8, 0.95):
                found = [rate_coverage(rounds, clusters, repeats, rate, each, cases_a_unit=4) for each in CORRELATIONS]
                row.append(_cell(found, clusters, rate))
            rows.append(row)
    yield from _table(["clusters", "repeats", "rate 0.5", "rate 0.8", "rate 0.95"], rows)


def _differences(rounds: int) -> Iterator[str]:
    yield "### Differences: all three intervals of three models at once\n"
    yield "Lowest to highest over correlations within a unit of 0, 0.5 and 1; `4 × n` are clusters of four cases.\n"
    triples = ((0.5, 0.5, 0.5), (0.8, 0.7, 0.6), (0.8, 0.8, 0.4), (0.95, 0.95, 0.9), (0.98, 0.98, 0.98))
    rows = []
    for units, repeats, size in ((10, 1, 1), (20, 1, 1), (50, 1, 1), (200, 1, 1), (10, 3, 1), (20, 3, 1), (50, 3, 1),
                                 (100, 3, 1), (20, 10, 1), (50, 10, 1), (25, 1, 4), (40, 3, 4)):  # fmt: skip
        row = [str(units) if size == 1 else f"{size} × {units}", str(repeats)]
        correlations = (1.0,) if repeats == size == 1 else (0.0, 0.5, 1.0)
        for rates in triples:
            each = [errors_of(rounds // 3, rates, units, repeats, rho, cases_a_unit=size) for rho in correlations]
            row.append(_range([found["covered"] for found in each]))
        rows.append(row)
    yield from _table(["cases", "repeats", *("/".join(f"{rate:g}" for rate in rates) for rates in triples)], rows)


def _tests(rounds: int) -> Iterator[str]:
    yield "### Differences that do not exist: how often any is claimed among three equal models\n"
    rows = []
    for units, repeats, size in ((10, 1, 1), (20, 1, 1), (50, 1, 1), (200, 1, 1), (10, 3, 1), (20, 3, 1), (50, 3, 1),
                                 (100, 3, 1), (50, 10, 1), (25, 1, 4), (40, 3, 4)):  # fmt: skip
        row = [str(units) if size == 1 else f"{size} × {units}", str(repeats)]
        for rate in (0.5, 0.8, 0.95):
            correlations = (1.0,) if repeats == size == 1 else (0.0, 0.6, 1.0)
            found = [
                errors_of(rounds // 3, (rate,) * 3, units, repeats, rho, cases_a_unit=size) for rho in correlations
            ]
            row.append(_range([each["false_difference"] for each in found]))
        rows.append(row)
    yield from _table(["cases", "repeats", "rate 0.5", "rate 0.8", "rate 0.95"], rows)


def _equivalence(rounds: int) -> Iterator[str]:
    yield "### Equivalence that does not exist: two models that differ by exactly the margin\n"
    rows = []
    for units, repeats in ((20, 1), (50, 1), (200, 1), (20, 3), (50, 3), (100, 3)):
        row = [str(units), str(repeats)]
        for rates, margin in (((0.8, 0.7), 0.1), ((0.95, 0.9), 0.05), ((1.0, 0.95), 0.05), ((0.6, 0.4), 0.2)):
            found = [
                errors_of(rounds, rates, units, repeats, rho, margin=margin)["false_equivalence"]
                for rho in ((1.0,) if repeats == 1 else (0.0, 0.6, 1.0))
            ]
            row.append(_range(found))
        rows.append(row)
    heads = ["cases", "repeats", "0.8/0.7 ±10", "0.95/0.9 ±5", "1/0.95 ±5", "0.6/0.4 ±20"]
    yield from _table(heads, rows)


def _cell(found: Sequence[float], units: int, rate: float) -> str:
    return _range(found) + ("*" if units * min(rate, 1 - rate) < 5 else "")


def _range(found: Sequence[float]) -> str:
    low, high = f"{min(found):.1f}", f"{max(found):.1f}"
    return low if low == high else f"{low}–{high}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def main() -> None:
    """Put the tables between their marks in the page."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{chr(10).join(tables(rounds))}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
