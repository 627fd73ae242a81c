"""What can be said of two models on the same cases, in a sentence and in a list."""

from collections.abc import Callable, Mapping, Sequence

from tui.app.presentation.pieces import Line, Piece, Role, cut_middle, fill, width_of
from tui.model.shown import show_line
from tui.statistics.comparing import Comparison
from tui.statistics.pairs import cases_needed

_CASES_LISTED = 200
_SHORT_NAME = 24

NameOf = Callable[[str], str]


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
    a, b = (cut_middle(names[model], _SHORT_NAME) for model in (pair.a, pair.b))
    said, role = judgement(pair, {pair.a: a, pair.b: b})
    holm = f", Holm over {pair.pairs}" if pair.pairs > 1 else ""
    figures = f"{a} {pair.wins} : {pair.losses} {b}, {pair.ties} alike; {_p(pair.p_holm)} ({_method(pair)}{holm}): "
    return ((figures, "dim"), (f"{said.partition(' (')[0]}.", role))


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
    """All pairs, a line each."""
    titles = [f"{names[pair.a]} : {names[pair.b]}" for pair in pairs]
    width = min(56, max(map(width_of, titles), default=0))
    return [_pair_line(pair, fill(title, width), names) for pair, title in zip(pairs, titles, strict=True)]


def _pair_line(pair: Comparison, title: str, names: Mapping[str, str]) -> Line:
    low, high = (_points(end) for end in pair.difference_95)
    said, role = judgement(pair, names)
    return (
        (f" {title}", "strong"),
        (f"  {pair.wins:>4} won · {pair.losses} lost · {pair.ties} alike", "plain"),
        (f"  {_points(pair.difference)} points ({low} to {high})", "dim"),
        (f"  {said.partition(' (')[0]}", role),
    )


def _points(share: float) -> str:
    points = round(100 * share)
    return f"{points:+d}".replace("-", "−") if points else "0"


def pair_lines(pair: Comparison, names: Mapping[str, str], case_name: NameOf) -> list[Line]:
    """All of one pair, with the cases behind each number."""
    a, b = names[pair.a], names[pair.b]
    lines: list[Line] = [sentence(pair, names)]
    listed: tuple[tuple[str, tuple[str, ...], Role], ...] = (
        (f"{a} does better than {b}", pair.win_cases, "passed"),
        (f"{b} does better than {a}", pair.loss_cases, "failed"),
    )
    for title, cases, role in listed:
        lines += [(), ((f"{title}: {_cases(len(cases))}", role),)]
        lines += [((f"  {show_line(case_name(case))}", "plain"),) for case in cases[:_CASES_LISTED]]
        if len(cases) > _CASES_LISTED:
            lines.append(((f"  … {len(cases) - _CASES_LISTED} more", "dim"),))
    return lines


def _cases(number: int) -> str:
    return f"{number} case" if number == 1 else f"{number} cases"


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}" if value < 0.1 else f"p = {value:.2f}"


def _method(pair: Comparison) -> str:
    return "exact McNemar" if pair.method == "mcnemar-exact" else "paired bootstrap"
