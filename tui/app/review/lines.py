"""The title, the queue and the last line of the Review screen."""

from dataclasses import dataclass

from tui.app.presentation.bands import band_mark, band_of, band_piece, extent_words, severity_weight
from tui.app.presentation.names import model_names
from tui.app.presentation.pieces import Line, Piece, cut, cut_middle, spread, width_of
from tui.app.review.pace import left_words, minutes
from tui.app.review.stands import ItemStatus
from tui.model.risk import BandRule
from tui.model.sanitize import sanitize_line
from tui.model.scores import Extent
from tui.risk.queue import ReviewItem

_BAR = "━"


@dataclass(frozen=True, slots=True)
class Title:
    """What the title tells. `filtered` is (done, all) of what the filter shows, None without one."""

    suite: str = ""
    blind: bool = False
    seed: int | None = None
    reviewer: str = ""
    scored: int = 0
    items: int = 0
    spent_ms: float = 0
    filtered: tuple[int, int] | None = None
    deciding: bool = False


def title_line(title: Title, width: int) -> Line:
    """The line in at most so many cells: what matters least is left out first."""
    for least in ("", "seed", "rest", "suite", "who"):
        left, right = _title_parts(title, least)
        room = width - _width(left) - _width(right)
        if room >= 2:
            return spread([*left], [*right[:1], *_bar(title, min(26, room - 2)), *right[1:]], width)
    return spread(left, right, width)


_LEFT_OUT = ("seed", "rest", "suite", "who")


def _title_parts(title: Title, least: str) -> tuple[list[Piece], list[Piece]]:
    """Without `least` and all that matters less."""
    out = _LEFT_OUT[: _LEFT_OUT.index(least) + 1] if least else ()
    said: list[Piece] = [] if "suite" in out else [(sanitize_line(title.suite, 40), "plain")]
    said += [("blind", "accent")] if title.blind else []
    said += [(f"seed {title.seed}", "dim")] if title.blind and title.seed is not None and "seed" not in out else []
    said += [("deciding", "accent")] if title.deciding else []
    left: list[Piece] = [(" Assay", "accent"), ("  Review  ", "strong")]
    for number, piece in enumerate(said):
        left += [(" · " if number else "", "dim"), piece]
    if title.filtered is not None:
        left.append((f"  filter {title.filtered[0]}/{title.filtered[1]}", "dim"))
    right: list[Piece] = [(f"{title.scored:>{len(str(title.items))}}/{title.items}", "accent")]
    if "who" not in out:
        right += [(f"  {sanitize_line(title.reviewer, 30)}", "plain"), (f" · {minutes(title.spent_ms)}", "dim")]
    rest = left_words(title.spent_ms, title.scored, title.items - title.scored)
    return left, [*right, (f" · {rest}" if rest and "rest" not in out else "", "dim"), (" ", "plain")]


def _width(part: list[Piece]) -> int:
    return sum(width_of(text) for text, _ in part)


def _bar(title: Title, room: int) -> list[Piece]:
    if room < 10 or not title.items:
        return []
    room -= 2
    filled = round(title.scored / title.items * room)
    return [("  ", "plain"), (_BAR * filled, "accent"), (_BAR * (room - filled), "quiet")]


def answer_name(item: ReviewItem, *, hidden: bool) -> str:
    """Whose answer it is; of hidden ones the number alone."""
    if hidden:
        return f"Answer {item.answer}"
    name = model_names([item.key.model])[0]
    return f"{name} · repeat {item.key.repeat}" if item.key.repeat > 1 else name


def queue_line(item: ReviewItem, stand: ItemStatus, rule: BandRule, *, hidden: bool, width: int) -> Line:
    """An item in the queue: whether it is done, whose answer, which criterion, the band."""
    if stand.disputed:
        mark: Piece = ("≠", "flaky")
    elif stand.band is not None:
        mark = band_mark(stand.band)
    else:
        mark = ("·", "dim") if stand.standing is None else ("-", "dim")
    right: list[Piece] = []
    if stand.mine is not None and stand.mine.extent is not None and not stand.disputed:
        extent = stand.mine.extent
        band = band_of(item.criterion.severity, extent, rule)
        right = [("n/a ", "dim")] if band is None else [(f"{extent} ", "plain"), band_piece(band), (" ", "plain")]
    elif stand.disputed:
        right = [("differ ", "flaky")]
    elif stand.band is not None:
        right = [band_piece(stand.band), (" ", "plain")]
    room = width - 3 - sum(width_of(text) for text, _ in right)
    who = f"{item.answer:>3}" if hidden else cut_middle(answer_name(item, hidden=False), max(6, room // 3))
    left: list[Piece] = [(" ", "plain"), mark, (f" {who}  ", "dim"), (sanitize_line(item.case.id, 60), "plain")]
    left.append((f" {sanitize_line(item.criterion.name, 80)}", "dim" if stand.mine is not None else "strong"))
    return spread(left, right, width)


def given_line(item: ReviewItem, extent: Extent, rule: BandRule, what: str, width: int, *, undoes: bool = True) -> Line:
    """What was just given, and that it can be taken back: `sec-001 · SQL injection: 3 major → critical  u undoes`."""
    band = band_of(item.criterion.severity, extent, rule)
    end: list[Piece] = [(f" {extent_words(extent)}", "strong")]
    if band is not None:
        end += [(" → ", "dim"), band_piece(band)]
    end += [("  ", "dim"), ("u", "accent"), (" undoes ", "dim")] if undoes else []
    room = width - _width(end) - 2
    name = f" {what}{sanitize_line(item.case.id, 60)} · {sanitize_line(item.criterion.name, 100)}:"
    return ((cut(name, room), "plain"), *end)


def next_line(item: ReviewItem | None, here: ReviewItem | None, rule: BandRule, width: int) -> Line:
    """What comes next, in one line."""
    if item is None or item is here:
        return (("Everything is scored." if item is None else "This is the last open item.", "dim"),)
    same = here is not None and item.answer == here.answer
    right: list[Piece] = [severity_weight(item.criterion.severity, rule), ("   next", "dim")]
    left: list[Piece] = [(sanitize_line(item.criterion.name, 100), "dim"), ("" if same else "  next answer", "dim")]
    return spread(left, right, width)
