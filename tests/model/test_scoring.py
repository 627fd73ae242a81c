"""Acts folded: the latest counts, decisions above scores, whatever order and number they come in."""

import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.support.kept_runs import make_case, make_result, with_prompt
from tests.support.scoring import FIRST_ANSWER, ITEMS, REVIEWERS, SECOND_ANSWER, act_lists, item, make_act
from tui.model.results import TrialKey
from tui.model.scores import Act, CountedScore, Scoreboard, is_blind_open, new_act_id, prompt_texts

ITEM = item()
OTHER = item(criterion="Safety")


def everything(board: Scoreboard) -> object:
    of_items = [
        (
            key,
            board.trail(key),
            board.scores(key),
            board.decision(key),
            board.counted(key),
            [board.score(key, name) for name in REVIEWERS],
        )
        for key in ITEMS
    ]
    return board.acts, board.reviewers, board.items, board.reveals(), [board.revealed(n) for n in REVIEWERS], of_items


def extent_of(board: Scoreboard, reviewer: str = "Ada") -> object:
    score = board.score(ITEM, reviewer)
    return None if score is None else score.extent


@given(act_lists(), st.randoms(use_true_random=False), st.integers(1, 5))
def test_any_order_any_doubles_and_any_files_give_the_same_board(
    acts: list[Act], chance: random.Random, files: int
) -> None:
    answers = {key.trial: SECOND_ANSWER for key in ITEMS[::2]}
    expected = everything(Scoreboard(acts, answers))
    pieces: list[list[Act]] = [[] for _ in range(files)]
    for act in [*acts, *chance.choices(acts, k=len(acts))] if acts else []:
        chance.choice(pieces).append(act)
    mixed = [act for piece in pieces for act in chance.sample(piece, len(piece))]
    assert everything(Scoreboard(mixed, answers)) == expected
    one_by_one = Scoreboard((), answers)
    for act in mixed:
        one_by_one.add(act)
    assert everything(one_by_one) == expected


def test_the_latest_of_a_reviewer_counts_and_all_stay_in_the_trail() -> None:
    acts = [make_act(2, 3), make_act(1, 1), make_act(3, 2, reviewer="Bo")]
    board = Scoreboard(acts)
    assert extent_of(board) == 3
    assert [act.extent for act in board.trail(ITEM)] == [1, 3, 2]
    assert board.reviewers == ("Ada", "Bo")


def test_instants_are_compared_and_not_their_texts() -> None:
    early = replace(make_act(1, 1), scored_at="2026-11-20T12:00:00+02:00")
    late = replace(make_act(2, 2), scored_at="2026-11-20T10:00:01Z")
    assert extent_of(Scoreboard([late, early])) == 2
    assert extent_of(Scoreboard([replace(late, scored_at="2026-11-20T09:59:59Z"), early])) == 1


def test_at_the_same_instant_the_greater_id_counts() -> None:
    assert extent_of(Scoreboard([make_act(2, 2, seconds=0), make_act(1, 1, seconds=0)])) == 2


def test_a_score_that_was_taken_back_counts_no_more_and_a_later_one_does() -> None:
    taken_back = [make_act(1, 4), make_act(2, act="invalidate")]
    assert extent_of(Scoreboard(taken_back)) is None
    assert Scoreboard(taken_back).counted(ITEM) is None
    assert extent_of(Scoreboard([*taken_back, make_act(3, 1)])) == 1
    assert extent_of(Scoreboard([make_act(1, 4), make_act(2, act="invalidate", reviewer="Bo")])) == 4


def test_why_an_extent_counts() -> None:
    one, same, other = make_act(1, 2), make_act(2, 2, reviewer="Bo"), make_act(3, 3, reviewer="Cy")
    left_out, decided = make_act(4, "n/a", reviewer="Cy"), make_act(5, 1, act="adjudicate", reviewer="Bo")
    assert Scoreboard([one]).counted(ITEM) == CountedScore(2, "single")
    assert Scoreboard([one, same]).counted(ITEM) == CountedScore(2, "agreed")
    assert Scoreboard([one, same, other]).counted(ITEM) == CountedScore(3, "highest")
    assert Scoreboard([one, left_out]).counted(ITEM) == CountedScore(2, "highest")
    assert Scoreboard([left_out]).counted(ITEM) == CountedScore("n/a", "single")
    board = Scoreboard([one, same, other, decided])
    assert board.counted(ITEM) == CountedScore(1, "decided")
    assert Scoreboard([one, other]).counted(ITEM) == CountedScore(3, "highest")
    assert Scoreboard([one]).counted(OTHER) is None


def test_a_decision_is_no_score_and_can_be_taken_back() -> None:
    first, second = make_act(2, 4, act="adjudicate"), make_act(3, 0, act="adjudicate", reviewer="Bo")
    board = Scoreboard([make_act(1, 2), first, second])
    assert extent_of(board) == 2
    assert board.decision(ITEM) == second
    board.add(make_act(4, act="invalidate", withdraws=second.id))
    assert board.decision(ITEM) == first
    board.add(make_act(5, act="invalidate", withdraws=first.id))
    assert board.decision(ITEM) is None
    assert extent_of(board) == 2, "what is taken back is the decision, not the score"


def test_a_score_of_an_earlier_answer_does_not_count_and_stays() -> None:
    old, new = make_act(1, 4, answer=FIRST_ANSWER), make_act(2, 1, answer=SECOND_ANSWER)
    now = {ITEM.trial: SECOND_ANSWER}
    board = Scoreboard([old], now)
    assert extent_of(board) is None
    assert board.counted(ITEM) is None
    assert board.trail(ITEM) == (old,)
    assert extent_of(Scoreboard([old, new], now)) == 1
    late = replace(old, id=new_act_id(), scored_at="2026-11-21T00:00:00+00:00")
    assert extent_of(Scoreboard([old, new, late], now)) == 1, "a late line about the old answer says nothing of the new"
    assert extent_of(Scoreboard([make_act(1, 4, attempt=2)], now)) is None, "it names no answer"
    assert Scoreboard([make_act(1, 4, act="adjudicate", answer=FIRST_ANSWER)], now).decision(ITEM) is None


def test_scores_of_earlier_answers_are_counted_until_they_are_given_anew() -> None:
    old, bo = make_act(1, 4, answer=FIRST_ANSWER), make_act(2, 3, answer=FIRST_ANSWER, reviewer="Bo")
    taken_back = make_act(3, act="invalidate", answer=FIRST_ANSWER, reviewer="Bo")
    decided = make_act(4, 2, act="adjudicate", answer=FIRST_ANSWER)
    assert Scoreboard([old, bo, decided]).outdated == 0
    now = {ITEM.trial: SECOND_ANSWER}
    assert Scoreboard([old, bo, decided], now).outdated == 2
    assert Scoreboard([old, bo, taken_back], now).outdated == 1
    assert Scoreboard([old, bo, make_act(5, 0, answer=SECOND_ANSWER)], now).outdated == 1
    nameless = Scoreboard([make_act(1, 4), make_act(2, act="look")], now)
    assert (nameless.outdated, nameless.unbound) == (0, 1)
    assert Scoreboard([old, bo], now).unbound == 0


def test_an_answer_that_comes_back_has_its_scores_back() -> None:
    board = Scoreboard([make_act(1, 4, answer=FIRST_ANSWER)], {ITEM.trial: SECOND_ANSWER})
    assert extent_of(board) is None
    board.replace_answer(ITEM.trial, FIRST_ANSWER)
    assert extent_of(board) == 4


def test_looks_are_counted_by_reviewer() -> None:
    board = Scoreboard([make_act(1, act="look"), make_act(2, act="look"), make_act(3, act="look", reviewer="Bo")])
    assert [board.looks(name) for name in ("Ada", "Bo", "Cy")] == [2, 1, 0]
    assert (board.reveals(), board.items) == ((), ())


def test_a_blind_session_is_open_from_its_first_act_until_names_are_revealed() -> None:
    begun = [make_act(1, 4, blind=True), make_act(2, 1, reviewer="Bo")]
    assert [is_blind_open(begun, name) for name in ("Ada", "Bo")] == [True, False]
    assert not is_blind_open([*begun, make_act(3, act="reveal")], "Ada")
    assert is_blind_open([*begun, make_act(3, act="reveal", reviewer="Bo")], "Ada")


def test_reveals_are_of_a_reviewer() -> None:
    board = Scoreboard([make_act(2, act="reveal"), make_act(1, act="reveal", reviewer="Bo")])
    assert (board.revealed("Ada"), board.revealed("Bo"), board.revealed("Cy")) == (True, True, False)
    assert [act.reviewer for act in board.reveals()] == ["Bo", "Ada"]
    assert board.items == ()


def test_who_has_taken_all_back_is_no_reviewer() -> None:
    board = Scoreboard([make_act(1, 4), make_act(2, act="invalidate"), make_act(3, 1, reviewer="Bo")])
    assert board.reviewers == ("Bo",)
    assert board.items == (ITEM,)
    assert board.scores(ITEM) == (make_act(3, 1, reviewer="Bo"),)


def test_new_ids_are_32_hex_digits_and_differ() -> None:
    ids = {new_act_id() for _ in range(100)}
    assert len(ids) == 100
    assert all(len(each) == 32 and int(each, 16) >= 0 for each in ids)


def test_the_prompt_of_an_answer_is_the_one_that_was_recorded_with_it() -> None:
    case = make_case("one")
    result = make_result(TrialKey("one", "m"))
    steps = with_prompt(result, "What was really sent").attempts[0].steps
    assert prompt_texts(case, steps) == ["What was really sent"]
    assert prompt_texts(case, ()) == [case.steps[0].input]
    assert prompt_texts(case, with_prompt(result, "").attempts[0].steps) == [case.steps[0].input]
