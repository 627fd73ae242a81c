"""Which price a model of a run has: the config's, else the package's, else none."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.kept_runs import STARTED, make_case, make_suite
from tui.model.prices import Price
from tui.model.results import TrialKey
from tui.model.subjects import Config, ProviderSettings, Subject, Variant
from tui.providers.prices import Listed
from tui.providers.registry import resolve_subject
from tui.session import providers
from tui.session.providers import PriceBook
from tui.session.session import Session

OWN, OTHER = Price(1.0, 2.0, "config"), Price(3.0, 4.0, "config")
LISTED = Price(5.0, 6.0, "list 1.0")
KEYS = {"OPENAI_API_KEY": "sk-x", "ANTHROPIC_API_KEY": "sk-y"}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Listed]:
    """What the package was asked for; the package itself has tests of its own."""
    every: list[Listed] = []

    def look_up(models: Sequence[Listed], _: Mapping[str, str]) -> dict[Listed, Price | None]:
        every.extend(models)
        return {model: None if "unknown" in model.model_id else LISTED for model in models}

    monkeypatch.setattr(providers, "look_up", look_up)
    return every


def priced(names: Sequence[str], config: Config, environ: Mapping[str, str] = KEYS) -> list[Price | None]:
    subjects = [resolve_subject(name, config, environ) for name in names]
    return [subject.price for subject in PriceBook(config, environ).add_prices(subjects)]


@pytest.mark.parametrize(
    ("name", "prices"),
    [
        ("openai/gpt-5.2?temperature=0", {"openai/gpt-5.2?temperature=0": OWN, "openai/gpt-5.2": OTHER}),
        ("openai/gpt-5.2?temperature=0", {"openai/gpt-5.2": OWN, "gpt-5.2": OTHER}),
        ("gpt-5.2", {"gpt-5.2": OWN, "openai/gpt-5.2": OTHER}),
        ("calm", {"calm": OWN, "openai/gpt-5.2": OTHER}),
        ("calm", {"openai/gpt-5.2": OWN, "gpt-5.2": OTHER}),
        ("home/gpt-5.2", {"gpt-5.2": OWN}),
        ("local/smollm2-135m", {"local/smollm2-135m": OWN}),
    ],
)
def test_the_config_comes_first_by_the_nearest_name(name: str, prices: dict[str, Price], asked: list[Listed]) -> None:
    home = ProviderSettings("home", "openai", "http://127.0.0.1:1/v1")
    config = Config(variants={"calm": Variant("gpt-5.2", "openai")}, providers={"home": home}, prices=prices)
    assert priced([name], config) == [OWN]
    assert asked == []


def test_public_providers_are_looked_up_together_and_once(asked: list[Listed]) -> None:
    names = ["openai/gpt-5.2", "openai/gpt-5.2?seed=7", "anthropic/claude-x", "openai/unknown-1"]
    subjects = [resolve_subject(name, Config(), KEYS) for name in names]
    book = PriceBook(Config(), KEYS)
    for _ in range(2):
        assert [subject.price for subject in book.add_prices(subjects)] == [LISTED, LISTED, LISTED, None]
    assert asked == [
        Listed("https://api.openai.com/v1", "gpt-5.2"),
        Listed("https://api.anthropic.com", "claude-x"),
        Listed("https://api.openai.com/v1", "unknown-1"),
    ]


def test_a_server_at_home_costs_nothing_known_whatever_its_models_are_called(asked: list[Listed]) -> None:
    environ = {**KEYS, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    assert (
        priced(["gpt-5.2", "openai/gpt-5.2", "ollama/gpt-5.2", "local/smollm2-135m"], Config(), environ) == [None] * 4
    )
    assert asked == []


def test_recorded_answers_are_not_paid_for_again(asked: list[Listed]) -> None:
    prices = {"replay/last/openai/gpt-5.2": OWN, "last/openai/gpt-5.2": OWN}
    assert priced(["replay/last/openai/gpt-5.2"], Config(prices=prices)) == [None]
    assert asked == []


def test_a_price_that_is_there_stays(asked: list[Listed]) -> None:
    subject = Subject("openai/gpt-5.2", "openai", "gpt-5.2", price=OTHER)
    (kept,) = PriceBook(Config(prices={"gpt-5.2": OWN}), KEYS).add_prices([subject])
    assert kept == subject
    (new,) = PriceBook(Config(prices={"gpt-5.2": OWN}), KEYS).add_prices([replace(subject, price=None)])
    assert new.price == OWN
    assert asked == []


async def test_plans_of_the_app_have_prices_also_for_a_model_that_joins_a_kept_run(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("prices:\n  mock-a: {input: 1, output: 2}\n  mock-b: {input: 3, output: 4}\n")
    folders = {f"ASSAY_{name}_DIR": str(tmp_path) for name in ("CONFIG", "DATA", "CACHE")}
    session = Session({**folders, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": "x"})
    try:
        suite = make_suite([make_case("one")])
        plan = session.make_plan(suite, session.resolve(["openai/mock-a"]))
        assert [subject.price for subject in plan.subjects] == [OWN]
        session.store.begin_run(plan, STARTED)
        joined = session.history.plan_again(plan.run_id, [TrialKey("one", "openai/mock-b")])
        assert [subject.price for subject in joined.subjects] == [OWN, OTHER]
    finally:
        await session.close()
