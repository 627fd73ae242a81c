"""Problems in parts of the config file that are not read, and several problems at once."""

from pathlib import Path

import pytest

from tests.config.test_load import loaded, problems

USD = "expected a number of USD per million tokens, from 0 to 1,000,000"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("modles: {a: 1, a: 2, b: 2026-13-45}\n", ["1:1"]),
        ("theme: {a: 1, a: 2}\n", ["1:8"]),
        ("risk: {limits: {critical: {a: 1, a: 2}}}\n", ["1:17"]),
        ("providers: {openai: {headers: {Host: 5}}}\n", ["1:32"]),
        ("providers: {openai: {headers: {'[key]': 5}}}\n", ["1:32"]),
    ],
)
def test_a_part_that_is_not_read_has_no_problems_of_its_own(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert [problem.partition(": ")[0] for problem in problems(tmp_path, text)] == expected


def test_what_depends_on_several_values_is_checked_beside_invalid_values(tmp_path: Path) -> None:
    text = (
        "theme: 5\n"
        "models: {m: {id: 4, provider: ' openai '}, n: 7, n: 8}\n"
        "providers: {'[key]': {kind: z}, anthropic: {api: grpc}}\n"
        "prices: {p: {input: -1, output: 1}, q: {cached: x}}\n"
    )
    api = "selects one of the OpenAI protocols, and this provider uses none of them"
    assert [problem.replace(" error: ", " ") for problem in problems(tmp_path, text)] == [
        "1:8: theme: expected a string; put it in quotes",
        "2:18: models.m.id: expected a string; put it in quotes",
        "2:44: models.n: is missing `id`, the id of the model",
        "2:47: models.n: expected a mapping of names to values, got a single value",
        "2:50: models.n: duplicate key; remove one",
        "3:13: providers.[key]: the name of a provider can contain only letters, digits, `_`, `-` and `.`",
        "3:13: providers.[key]: is missing base_url, for example http://localhost:8080/v1",
        "3:29: providers.[key].kind: Expected one of openai, local, anthropic, copilot",
        "3:50: providers.anthropic.api: Expected one of chat, responses",
        f"3:50: providers.anthropic.api: {api}",
        f"4:21: prices.p.input: {USD}",
        "4:37: prices.q: is missing input and output (USD per million tokens)",
        f"4:49: prices.q.cached: {USD}",
    ]


def test_texts_are_read_without_surrounding_white_space_but_a_system_prompt_is_not(tmp_path: Path) -> None:
    text = "models: {m: {id: ' x ', system: ' Be brief. '}}\nproviders: {mine: {kind: ' local '}}\n"
    config = loaded(tmp_path, text)
    assert (config.variants["m"].id, config.variants["m"].settings.system) == ("x", " Be brief. ")
    assert config.providers["mine"].kind == "local"


def test_a_temperature_stays_the_number_that_is_written(tmp_path: Path) -> None:
    config = loaded(tmp_path, "models: {a: {id: x, temperature: 1}, b: {id: x, temperature: 1.0, top_p: 0}}\n")
    assert [repr(config.variants[name].settings.temperature) for name in ("a", "b")] == ["1", "1.0"]
    assert repr(config.variants["b"].settings.top_p) == "0"


def test_half_a_surrogate_pair_and_hidden_characters_are_named_safely(tmp_path: Path) -> None:
    text = 'providers: {mine: {headers: {X-Token: "a\\ud800b"}}}\nrules: {"*": "\\u202Emine"}\n'
    [_, surrogate, provider] = problems(tmp_path, text)

    assert surrogate.endswith("half a surrogate pair (\\ud800 to \\udfff) is not a character; remove or complete it")
    assert "unknown provider <U+202E>mine. Did you mean mine?" in provider
