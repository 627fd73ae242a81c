"""The providers with their states and models, new providers in the config file, and remembered choices of models."""

import asyncio
import json
import stat
from pathlib import Path

import pytest

from tests.support.model_server import ModelServer, closed_port
from tests.support.replies import status
from tui.config.folders import find_folders
from tui.config.load import load_config
from tui.model.errors import FieldsRefused, StoreError
from tui.model.subjects import Config
from tui.session.model_catalog import ChosenModels, ModelCatalog, NewProvider
from tui.session.session import Session

NEW = NewProvider("mine", "openai", "http://localhost:8080/v1", "MY_KEY")


def environ_in(tmp_path: Path, **variables: str) -> dict[str, str]:
    return {
        "ASSAY_CONFIG_DIR": str(tmp_path / "c"),
        "ASSAY_DATA_DIR": str(tmp_path / "d"),
        "ASSAY_CACHE_DIR": str(tmp_path / "h"),
        **variables,
    }


def catalog_in(tmp_path: Path, used: list[Config] | None = None, **variables: str) -> ModelCatalog:
    environ = environ_in(tmp_path, **variables)
    folders = find_folders(environ)
    return ModelCatalog(folders, environ, load_config(folders.config, environ), ([] if used is None else used).append)


def config_file(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "c" / "config.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, newline="")
    return file


def test_each_provider_says_what_it_needs(tmp_path: Path) -> None:
    config_file(tmp_path, "providers:\n  mine: {base_url: 'http://localhost:1/v1', api_key: '${MY_KEY}'}\n")
    states = catalog_in(tmp_path, OPENAI_API_KEY="k").states()
    found = {state.name: state for state in states}
    assert states[0].name == "mine"
    assert (found["mine"].needs, found["mine"].is_usable) == ("MY_KEY", False)
    assert (found["openai"].key_name, found["openai"].is_usable) == ("OPENAI_API_KEY", True)
    assert found["anthropic"].needs == "ANTHROPIC_API_KEY"
    assert found["ollama"].is_usable
    assert not found.keys() & {"agent", "replay"}


async def test_a_provider_is_asked_once_for_each_call_and_the_answer_is_kept(tmp_path: Path) -> None:
    async with ModelServer(models=("a", "b")) as server:
        catalog = catalog_in(tmp_path, OPENAI_BASE_URL=server.url, OPENAI_API_KEY="k")
        assert catalog.states()
        assert server.listed == []
        listed = await catalog.list_models("openai")
        assert listed.models == ("openai/a", "openai/b")
        assert catalog.lists == {"openai": listed}
        assert len(server.listed) == 1


async def test_a_server_that_cannot_be_reached_is_an_error_of_its_list(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path, OPENAI_BASE_URL=f"http://127.0.0.1:{closed_port()}/v1", OPENAI_API_KEY="k")
    listed = await catalog.list_models("openai")
    assert listed.models == ()
    assert "Cannot connect" in (listed.error or "")


async def test_names_with_a_key_are_not_offered(tmp_path: Path) -> None:
    listing = status(200, {"object": "list", "data": [{"id": "a-sk-secret-4711"}, {"id": "b"}]})
    async with ModelServer(listing=listing) as server:
        catalog = catalog_in(tmp_path, OPENAI_BASE_URL=server.url, OPENAI_API_KEY="sk-secret-4711")
        assert (await catalog.list_models("openai")).models == ("openai/b",)


async def test_a_request_for_a_list_can_be_cancelled(tmp_path: Path) -> None:
    async with ModelServer(listing=status(200, {"data": [{"id": "x" * 5_000}]}).trickled(0.02)) as server:
        catalog = catalog_in(tmp_path, OPENAI_BASE_URL=server.url, OPENAI_API_KEY="k")
        asking = asyncio.create_task(catalog.list_models("openai"))
        while not server.listed:  # noqa: ASYNC110 the server has no event for it
            await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await server.wait_until_idle()
        assert catalog.lists == {}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "providers:\n  mine:\n"),
        ("theme: assay-light  # mine\n\n# tail", "theme: assay-light  # mine\n\n# tail\nproviders:\n  mine:\n"),
        ("providers:\n# none yet\ntheme: x\n", "providers:\n  mine:\n"),
        (
            "providers:\n    a:   {base_url: 'http://x'} # why\n\n# tail\nmodels: {}\n",
            "providers:\n    a:   {base_url: 'http://x'} # why\n    mine:\n",
        ),
        ("providers: {a: {base_url: http://x}}  # c\n", "providers: {a: {base_url: http://x}, mine: {"),
        ("theme: a\r\nproviders:\r\n  a:\r\n    base_url: http://x\r\n", "    base_url: http://x\r\n  mine:\r\n"),
    ],
)
def test_a_provider_is_added_and_the_rest_of_the_file_stays(tmp_path: Path, before: str, after: str) -> None:
    file = config_file(tmp_path, before)
    file.chmod(0o640)
    used: list[Config] = []
    catalog = catalog_in(tmp_path, used, MY_KEY="sk-0815-geheim")
    catalog.add_provider(NEW)
    text = file.read_bytes().decode()
    assert after in text
    assert "sk-0815" not in text
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert all(line in text.splitlines() or "{" in line for line in before.splitlines())
    assert used[0].providers["mine"].base_url == NEW.base_url
    assert used[0].providers["mine"].api_key == "sk-0815-geheim"
    assert [state.key_name for state in catalog.states() if state.name == "mine"] == ["MY_KEY"]
    with pytest.raises(FieldsRefused, match="already"):
        catalog.add_provider(NEW)


def test_a_missing_config_file_is_created_for_its_owner_only(tmp_path: Path) -> None:
    catalog_in(tmp_path).add_provider(NEW)
    file = tmp_path / "c" / "config.yaml"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text().splitlines()[-1] == "    api_key: ${MY_KEY}"


@pytest.mark.parametrize(
    ("new", "field"),
    [
        (NEW.__class__("my server", "openai", NEW.base_url), "name"),
        (NEW.__class__("replay", "openai", NEW.base_url), "name"),
        (NEW.__class__("mine", "magic", NEW.base_url), "kind"),
        (NEW.__class__("mine", "openai", ""), "base_url"),
        (NEW.__class__("mine", "openai", "localhost:8080"), "base_url"),
        (NEW.__class__("mine", "openai", "http://me:secret@localhost"), "base_url"),
        (NEW.__class__("mine", "openai", NEW.base_url, "sk-0815-geheim"), "key_variable"),
    ],
)
def test_an_invalid_provider_leaves_the_file_as_it_is(tmp_path: Path, new: NewProvider, field: str) -> None:
    file = config_file(tmp_path, "theme: x\n")
    with pytest.raises(FieldsRefused) as refused:
        catalog_in(tmp_path).add_provider(new)
    assert list(refused.value.faults) == [field]
    assert "geheim" not in str(refused.value)
    assert file.read_text() == "theme: x\n"
    assert [each.name for each in file.parent.iterdir()] == ["config.yaml"]


@pytest.mark.parametrize("text", ["{theme: x}\n", "- 1\n", "theme: [\n", "them: x\n"])
def test_a_file_that_cannot_be_extended_stays_as_it_is(tmp_path: Path, text: str) -> None:
    catalog = catalog_in(tmp_path)
    file = config_file(tmp_path, text)
    with pytest.raises(FieldsRefused) as refused:
        catalog.add_provider(NEW)
    assert list(refused.value.faults) == [""]
    assert file.read_text() == text


async def test_a_session_uses_a_new_provider_at_once(tmp_path: Path) -> None:
    async with ModelServer() as server:
        session = Session(environ_in(tmp_path, MY_KEY="sk-0815-geheim"))
        session.catalog.add_provider(NewProvider("mine", "openai", server.url, "MY_KEY"))
        assert session.resolve(["mine/mock-a"])[0].provider == "mine"
        assert session.secrets.hide("sk-0815-geheim") != "sk-0815-geheim"
        assert (await session.catalog.list_models("mine")).models == ("mine/mock-a", "mine/mock-b")
        await session.close()


def test_choices_are_remembered_for_each_suite(tmp_path: Path) -> None:
    choices = ChosenModels(tmp_path / "d" / "chosen-models.json")
    assert choices.read() == {}
    choices.remember(tmp_path / "first.yaml", ["a"])
    assert choices.read() == {str(tmp_path / "first.yaml"): ("a",)}
    kept = {str(tmp_path / f"{number}.yaml"): ["a", "b?seed=7"] for number in range(305)}
    (tmp_path / "d" / "chosen-models.json").write_text(json.dumps(kept))
    choices.remember(tmp_path / "0.yaml", [f"m{number}" for number in range(2_000)])
    choices.remember(tmp_path / "304.yaml", [])
    now = choices.read()
    assert len(now) == 299
    assert now[str(tmp_path / "303.yaml")] == ("a", "b?seed=7")
    assert len(now[str(tmp_path / "0.yaml")]) == 1_000
    assert not {str(tmp_path / f"{number}.yaml") for number in (1, 2, 3, 4, 304)} & now.keys()
    assert stat.S_IMODE((tmp_path / "d" / "chosen-models.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"a": 1, "b": [], "c": [1], "d": [""]}', "[" * 100_000, "\x00"])
def test_a_damaged_file_counts_as_empty(tmp_path: Path, text: str) -> None:
    file = tmp_path / "chosen-models.json"
    file.write_text(text)
    choices = ChosenModels(file)
    assert choices.read() == {}
    choices.remember(tmp_path / "a.yaml", ["x"])
    assert list(json.loads(file.read_text()).values()) == [["x"]]


def test_a_choice_that_cannot_be_saved_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "d").write_text("")
    with pytest.raises(StoreError, match="Cannot save the choice"):
        ChosenModels(tmp_path / "d" / "chosen-models.json").remember(tmp_path / "a.yaml", ["x"])
