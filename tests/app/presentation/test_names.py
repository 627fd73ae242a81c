"""What models are called on the screen."""

import pytest

from tui.app.presentation.names import fitted_names, joined_names, model_names, numbered_names
from tui.app.presentation.pieces import width_of

SETTINGS = ["local/smollm2-135m?temperature=0", "local/smollm2-135m?temperature=0.8&seed=7"]
LONG = "openai/accounts/fireworks/models/llama-v3p1-405b-instruct"


@pytest.mark.parametrize(
    ("models", "names"),
    [
        (SETTINGS, ["smollm2-135m · temp 0", "smollm2-135m · temp 0.8 · seed 7"]),
        (["gpt-5.2", "warm"], ["gpt-5.2", "warm"]),
        (["openai/gpt-5.2", "openrouter/gpt-5.2"], ["openai/gpt-5.2", "openrouter/gpt-5.2"]),
        (["openai/a/x", "openai/b/x", "openai/b/y"], ["a/x", "b/x", "b/y"]),
        ([f"{LONG}?max_tokens=400"], ["llama-v3p1-405b-instruct · max 400"]),
        (["gpt-5.2", "openai/gpt-5.2"], ["gpt-5.2", "openai/gpt-5.2"]),
        (
            ["cmd:python agent.py --a/b?c", "http://localhost:1/x?y"],
            ["cmd:python agent.py --a/b?c", "http://localhost:1/x?y"],
        ),
        (["a?temperature", "a?&", "/", "\u202e/x\x1b?k=\x07"], ["a · temp", "a", "/", "x␛ · k ␇"]),
        (["m?seed=1", "m?seed=%31"], ["m?seed=1", "m?seed=%31"]),
        (["same", "same"], ["same", "same"]),
        ([], []),
    ],
)
def test_models_are_called_as_briefly_as_they_can_be_distinguished(models: list[str], names: list[str]) -> None:
    assert model_names(models) == names
    assert fitted_names(models, 200) == names


def test_what_does_not_fit_leaves_out_what_is_shared_and_stays_different() -> None:
    assert fitted_names(SETTINGS, 20) == ["temp 0", "temp 0.8 · seed 7"]
    assert fitted_names(SETTINGS, 9) == ["temp 0", "temp…ed 7"]
    assert fitted_names(["openai/gpt-5.2-2026-01-01"], 11) == ["gpt-5…01-01"]
    assert fitted_names(["a/gpt-5.2?seed=7", "a/o3?seed=7"], 8) == ["gpt-5.2", "o3"]
    long = [f"{LONG}?temperature={value}" for value in (0, 1)]
    assert fitted_names([*long, "o3"], 24) == ["llama-v…nstruct · temp 0", "llama-v…nstruct · temp 1", "o3"]
    alike = [f"model-{middle}-of-this-kind" for middle in ("one", "two", "six")]
    for width in range(3, 24):
        names = fitted_names(alike, width)
        assert len(set(names)) == 3, width
        assert all(width_of(name) <= width for name in names)


def test_recorded_answers_are_marked_however_little_room_there_is() -> None:
    run = "0193f2a4c6d87000a1b2c3d4e5f60718"
    recorded = [f"replay/{run}/local/smol", f"replay/{run}/openai/mock?seed=7"]
    assert model_names(recorded) == ["↺ smol · recorded 0193f2a4c6d8", "↺ mock · seed 7 · recorded 0193f2a4c6d8"]
    assert fitted_names(recorded, 16) == ["↺ smol", "↺ mock · seed 7"]
    assert model_names([recorded[0], "local/smol"]) == ["↺ smol · recorded 0193f2a4c6d8", "smol"]
    assert model_names(["replay/last"]) == ["↺ last · recorded last"]


def test_where_one_is_shown_its_name_is_the_last_to_go() -> None:
    models = ["openai/mock-a", "openai/mock-b", "openai/mock-c"]
    assert numbered_names(models, 1, 40) == ["mock-a", "mock-b", "mock-c"]
    assert numbered_names(models, 1, 25) == ["", "mock-b", ""]
    assert numbered_names(SETTINGS, 1, 28) == ["", "temp 0.8 · seed 7"]
    assert numbered_names(models, 0, 1)[1:] == ["", ""]


def test_in_a_row_variants_name_their_model_once() -> None:
    assert joined_names(SETTINGS) == "smollm2-135m · temp 0, temp 0.8 · seed 7"
    assert joined_names([*SETTINGS, "openai/gpt-5.2"]) == "smollm2-135m · temp 0, temp 0.8 · seed 7, gpt-5.2"
    assert joined_names(["a/x", "b/x"]) == "a/x, b/x"
    assert joined_names(["a/x", "a/x?seed=1"]) == "x, seed 1"
    assert joined_names([]) == ""
