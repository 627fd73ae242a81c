"""What can be said of two models on the same cases, in a sentence and in a list."""

from collections import Counter
from collections.abc import Mapping, Sequence

from tui.app.matrix.tallies import ModelFigures
from tui.app.presentation.naming import fitted_names
from tui.app.presentation.pieces import Line, Piece, Role, fill, width_of
from tui.model.shown import show_line
from tui.model.suite import Case
from tui.statistics.comparing import Comparison
from tui.statistics.pairs import cases_needed

_CASES_LISTED = 200
_SHORT_NAME = 24

_MOST_GROUPS = 12


def sentence(pair: Comparison, names: Mapping[str, str]) -> Line:
    """How the two stand: cases, p, and what follows."""
    a, b = names[pair.a], names[pair.b]
    if pair.finding == "nothing in common":
        return ((f"{a} and {b} have no case in common yet: nothing to compare.", "dim"),)
    does = "passes" if pair.method == "mcnemar-exact" else "does better in"
    than = f"that {b} does not" if pair.method == "mcnemar-exact" else f"than {b}"
    holm = f", {_p(pair.p_holm)} after Holm over {pair.pairs} pairs" if pair.pairs > 1 else ""
    text = (
        f"{a} {does} {_cases(pair.wins)} {than}, and the reverse {pair.losses}; {pair.ties} alike: "
        f"{_p(pair.p_value)} ({_method(pair)}){holm}: "
    )
    said, role = judgement(pair, names)
    return ((text, "dim"), (f"{said}.", role))


def brief(pair: Comparison, names: Mapping[str, str]) -> Line:
    """The same in as few words as will do."""
    names = short_names(names)
    a, b = names[pair.a], names[pair.b]
    said, role = judgement(pair, names)
    holm = f", Holm over {pair.pairs}" if pair.pairs > 1 else ""
    won = f"{a} wins {pair.wins}, {b} wins {pair.losses}, {pair.ties} alike"
    figures = f"{won}; {_p(pair.p_holm)} ({_method(pair)}{holm}): "
    return ((figures, "dim"), (f"{said.partition(' (')[0]}.", role))


def short_names(models: Mapping[str, str]) -> dict[str, str]:
    """The names of all models of a matrix, none of them long."""
    return dict(zip(models, fitted_names([*models], _SHORT_NAME), strict=True))


def judgement(pair: Comparison, names: Mapping[str, str]) -> Piece:
    """What a comparison says."""
    match pair.finding:
        case "a" | "b":
            return f"{names[pair.a if pair.finding == 'a' else pair.b]} does better", "passed"
        case "they differ":
            return "they differ, by cases one way and by the share of passes the other", "accent"
        case "not enough data":
            differ, least = pair.wins + pair.losses, cases_needed(pair.pairs)
            verb = "differs" if differ == 1 else "differ"
            return f"not enough data to tell ({_cases(differ)} {verb}, it takes {least} at least)", "accent"
        case "nothing in common":
            return "no case in common", "dim"
    return "no difference shown", "accent"


def pairs_table(pairs: Sequence[Comparison], names: Mapping[str, str]) -> list[Line]:
    """All pairs, a line each: first what follows, then the figures, last the interval, which a narrow screen may leave
    out."""
    names = short_names(names)
    titles = [f"{names[pair.a]} : {names[pair.b]}" for pair in pairs]
    width = min(56, max(map(width_of, titles), default=0))
    room = min(40, max((width_of(judgement(pair, names)[0].partition(" (")[0]) for pair in pairs), default=0))
    return [_pair_line(pair, fill(title, width), names, room) for pair, title in zip(pairs, titles, strict=True)]


def _pair_line(pair: Comparison, title: str, names: Mapping[str, str], room: int) -> Line:
    low, high = (_points(end) for end in pair.difference_95)
    said, role = judgement(pair, names)
    return (
        (f" {title}", "strong"),
        (f"  {fill(said.partition(' (')[0], room)}", role),
        (f"  {pair.wins:>4} won · {pair.losses} lost · {pair.ties} alike", "plain"),
        (f"  {_points(pair.difference)} points", "dim"),
        (f" ({low} to {high})", "dim"),
    )


def _points(share: float) -> str:
    points = round(100 * share)
    return f"{points:+d}".replace("-", "−") if points else "0"


def pair_lines(
    pair: Comparison,
    names: Mapping[str, str],
    cases: Mapping[str, Case],
    figures: Mapping[str, ModelFigures] | None = None,
) -> list[Line]:
    """All of one pair: how far apart, by category, then the cases behind each number in the order of the suite."""
    a, b = names[pair.a], names[pair.b]
    lines: list[Line] = [sentence(pair, names), *_apart(pair), *_unanswered(pair, names, figures or {})]
    lines += _where(pair, names, cases)
    places = {case: place for place, case in enumerate(cases)}
    listed: tuple[tuple[str, tuple[str, ...], Role], ...] = (
        (f"{a} does better than {b}", pair.win_cases, "passed"),
        (f"{b} does better than {a}", pair.loss_cases, "failed"),
    )
    for title, ids, role in listed:
        lines += [(), ((f"{title}: {_cases(len(ids))}", role),)]
        for case in sorted(ids, key=lambda case: places.get(case, len(places)))[:_CASES_LISTED]:
            lines.append(((f"  {show_line(cases[case].name if case in cases else case)}", "plain"),))
        if len(ids) > _CASES_LISTED:
            lines.append(((f"  … {len(ids) - _CASES_LISTED} more", "dim"),))
    return lines


def _apart(pair: Comparison) -> list[Line]:
    if pair.finding == "nothing in common":
        return []
    low, high = (_points(end) for end in pair.difference_95)
    alone = " of this pair alone" if pair.pairs > 1 else ""
    said = (
        f"Difference in the share of passes: {_points(pair.difference)} points (95% interval{alone}: {low} to {high})."
    )
    return [((said, "dim"),)]


def _unanswered(pair: Comparison, names: Mapping[str, str], figures: Mapping[str, ModelFigures]) -> list[Line]:
    """Where a model is behind since it was not measured, that has to be seen beside what follows."""
    counted = [(model, figures[model]) for model in (pair.a, pair.b) if model in figures and figures[model].errors]
    return [
        ((f"{names[model]}: {each.errors} of {each.trials} ended as errors, which count as not passed.", "error"),)
        for model, each in counted
    ]


def _where(pair: Comparison, names: Mapping[str, str], cases: Mapping[str, Case]) -> list[Line]:
    """On what each does better, the greatest difference first; nothing where all is of one category."""

    def by_category(ids: Sequence[str]) -> Counter[str]:
        return Counter(cases[case].category if case in cases else "" for case in ids)

    wins, losses, ties = map(by_category, (pair.win_cases, pair.loss_cases, pair.tie_cases))
    found = sorted(wins | losses | ties, key=lambda name: (-abs(wins[name] - losses[name]), name))
    if len(found) < 2:
        return []
    titles = {name: show_line(name, 40) or "no category" for name in found[:_MOST_GROUPS]}
    width = max(map(width_of, titles.values()))
    lines: list[Line] = [
        (),
        ((f"By category, {names[pair.a]} : {names[pair.b]}", "strong"), ("  (counted, not tested)", "dim")),
    ]
    for name, title in titles.items():
        better: Role = "plain" if wins[name] == losses[name] else "passed" if wins[name] > losses[name] else "failed"
        score = f"{wins[name]:>3} : {losses[name]}"
        lines.append(((f"  {fill(title, width)}", "plain"), (f"  {score:<9}", better), (f"{ties[name]} alike", "dim")))
    if len(found) > _MOST_GROUPS:
        lines.append(((f"  … {len(found) - _MOST_GROUPS} more categories", "dim"),))
    return lines


def _cases(number: int) -> str:
    return f"{number} case" if number == 1 else f"{number} cases"


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}" if value < 0.1 else f"p = {value:.2f}"


def _method(pair: Comparison) -> str:
    return "exact McNemar" if pair.method == "mcnemar-exact" else "paired bootstrap"
