"""Settings are displayed with their origin, and written to the config file with nothing else in it changed."""

import stat
import threading
from pathlib import Path

import pytest

from tui.config.folders import Folders
from tui.config.settings import Setting
from tui.model.errors import FieldsRefused
from tui.model.subjects import Config
from tui.session.config_file import ConfigFile
from tui.session.session import Session
from tui.session.settings import ConfigSettings

CONFIG = """\
# my config
theme: harbour  # dark

models:
  warm: {provider: local, id: m, temperature: 0.8}
providers:
  mine:
    base_url: http://localhost:1/v1?token=sk-4711-geheim
    api_key: sk-0815-geheim
    headers: {X-Team: red-4711-geheim, X-Key: "${MINE}"}
risk:
  limits:
    high: 8   # strict
review:
  mask:
    - acme  # us
"""
ENVIRON = {
    "OPENAI_API_KEY": "sk-openai-geheim",
    "OPENAI_BASE_URL": "http://me:geheim@localhost/v1",
    "OLLAMA_HOST": "me:geheim@localhost:1234",
}


class Place:
    """A config folder with its settings; `used` are the configs that were used after changes."""

    def __init__(self, folder: Path, text: str | None = CONFIG, project: str | None = None) -> None:
        folders = Folders(folder / "c", folder / "d", folder / "k")
        self.file = folders.config_file
        self.file.parent.mkdir()
        if text is not None:
            self.file.write_text(text)
            self.file.chmod(0o600)
        self.project = folder / ".assay.yaml" if project is not None else None
        if self.project is not None:
            self.project.write_text(project or "")
        self.used: list[Config] = []
        self.settings = ConfigSettings(ConfigFile(folders, ENVIRON, self.project), ENVIRON, self.used.append)

    def get(self, name: str) -> Setting:
        return next(each for each in self.settings.read().settings if each.name == name)

    @property
    def text(self) -> str:
        return self.file.read_text()


def test_each_setting_has_its_value_default_and_origin(tmp_path: Path) -> None:
    place = Place(tmp_path, project="theme: assay-light\nkeys: {look.jump: f6}\n")
    theme, limit, repeats = place.get("theme"), place.get("risk.limits.high"), place.get("review.repeats")
    assert (theme.text, theme.origin, theme.place) == ("assay-light", "project file", f"{place.project}:1")
    assert (limit.text, limit.default, limit.origin, limit.place) == ("8", "9", "config file", f"{place.file}:13")
    assert (repeats.text, repeats.origin, repeats.kind) == ("0", "default", "number")
    assert "shown twice (0 to 30)" in repeats.description
    assert place.get("keys.look.jump").text == "f6"
    assert place.get("models.warm.temperature").text == "0.8"
    assert place.get("models.warm.seed").origin == "default"
    assert place.get("models").text == "1 entry"
    assert place.get("review.mask").text == "[acme]"


def test_no_key_is_displayed(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert place.get("providers.mine.api_key").text == "[hidden]"
    assert place.get("providers.mine.base_url").text == "[hidden]"
    assert place.get("providers.mine.headers").text == "X-Team: [hidden], X-Key: ${MINE} (not set)"
    key = place.get("providers.openai.api_key")
    assert (key.text, key.origin, key.place) == ("${OPENAI_API_KEY} (set)", "environment", "OPENAI_API_KEY")
    assert place.get("providers.openai.base_url").text == "[hidden]"
    assert place.get("providers.ollama.base_url").text == "[hidden]"
    assert "geheim" not in repr(place.settings.read())


def test_a_setting_with_a_key_is_not_edited_from_what_is_displayed(tmp_path: Path) -> None:
    place = Place(tmp_path)
    text = place.file.read_text() + "reviewer: with sk-0815-geheim\n"
    place.file.write_text(text)
    setting = place.get("reviewer")
    assert (setting.text, setting.kind) == ("with [removed key]", "read-only")
    with pytest.raises(FieldsRefused, match="It cannot be changed here"):
        place.settings.save(setting, "x")
    with pytest.raises(FieldsRefused, match="It cannot be changed here"):
        place.settings.remove(setting)
    place.file.write_text(text.replace("with sk-0815-geheim", "Ann"))
    ann = place.get("reviewer")
    place.file.write_text(text)
    with pytest.raises(FieldsRefused, match=r"Another program has changed it: it is with \[removed key\] now"):
        place.settings.save(ann, "x")
    assert place.text == text


def test_no_key_of_an_invalid_file_is_displayed(tmp_path: Path) -> None:
    place = Place(tmp_path)
    text = place.file.read_text() + "reviewer: with sk-literal-5678\n"
    place.file.write_text(text.replace("providers:\n", "providers:\n  s: {kind: openai, api_key: sk-literal-5678}\n"))
    assert place.get("reviewer").text == "with [removed key]"
    place.file.write_text(place.file.read_text() + "themex: 1\n")
    found = place.settings.read()
    assert "themex" in found.fault
    assert "sk-literal" not in repr(found)


@pytest.mark.parametrize(
    ("name", "text", "before", "after"),
    [
        ("theme", "assay-light", "theme: harbour  # dark", "theme: assay-light  # dark"),
        ("risk.limits.high", "9", "high: 8   # strict", "high: 9   # strict"),
        ("risk.weights.low", "2", "    high: 8   # strict\n", "    high: 8   # strict\n  weights:\n    low: 2\n"),
        ("models.warm.seed", "7", "temperature: 0.8}", "temperature: 0.8, seed: 7}"),
        ("review.mask", "acme, bb, 'c, d'", "- acme  # us\n", "- acme  # us\n    - bb\n    - c, d\n"),
        ("reviewer", "Ada", "# us\n", "# us\nreviewer: Ada\n"),
    ],
)
def test_the_smallest_edit_is_written_and_used(tmp_path: Path, name: str, text: str, before: str, after: str) -> None:
    place = Place(tmp_path)
    place.settings.save(place.get(name), text)
    assert place.text == CONFIG.replace(before, after)
    assert place.get(name).origin == "config file"
    assert len(place.used) == 1
    assert stat.S_IMODE(place.file.stat().st_mode) == 0o600


def test_a_byte_order_mark_stays(tmp_path: Path) -> None:
    place = Place(tmp_path, f"\ufeff{CONFIG}")
    place.settings.save(place.get("theme"), "assay-light")
    assert place.text == f"\ufeff{CONFIG}".replace("harbour", "assay-light")


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("risk.limits.high", "x", "expected a whole number from 0 to 400"),
        ("risk.limits.high", "4", "limits have to increase: high ends at 4, medium already at 5"),
        ("review.repeats", "31", "expected a whole number from 0 to 30"),
        ("models.warm.temperature", "3", "is not between 0 and 2"),
        ("models.warm.api", "chats", "is not chat or responses"),
        ("models.warm.provider", "mein", "unknown provider mein. Did you mean mine?"),
        ("reviewer", "", "expected a string that is not empty"),
        ("risk.guidance", "a, b", "expected 5 lines, one per extent"),
        ("risk.guidance", "", "expected a list"),
        ("review.mask", "x", "expected a name of 2 to 80"),
        ("providers.mine.api_key", "x", "It cannot be changed here"),
    ],
)
def test_an_invalid_value_is_refused_with_the_sentence_of_the_config(
    tmp_path: Path, name: str, text: str, fault: str
) -> None:
    place = Place(tmp_path)
    with pytest.raises(FieldsRefused) as refused:
        place.settings.save(place.get(name), text)
    (what,) = refused.value.faults.values()
    assert fault in what
    assert (place.text, place.used) == (CONFIG, [])


def test_a_setting_is_removed(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.settings.remove(place.get("risk.limits.high"))
    assert place.text == CONFIG.replace("risk:\n  limits:\n    high: 8   # strict\n", "")
    assert place.get("risk.limits.high").origin == "default"
    assert dict(place.used[-1].rule.limits)["high"] == 9
    with pytest.raises(FieldsRefused, match="is missing `id`"):
        place.settings.remove(place.get("models.warm.id"))


def test_entries_are_added(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.settings.add("models", "cold", {"provider": "local", "id": "m", "temperature": "0", "seed": ""})
    place.settings.add("rules", "qwen*", {"": "mine"})
    place.settings.add("prices", "mine/m", {"input": "0.5", "output": "2"})
    warm = "  warm: {provider: local, id: m, temperature: 0.8}\n"
    added = "  cold:\n    provider: local\n    id: m\n    temperature: 0\n"
    tail = "rules:\n  qwen*: mine\nprices:\n  mine/m:\n    input: 0.5\n    output: 2\n"
    assert place.text == CONFIG.replace(warm, warm + added) + tail
    assert place.used[-1].prices["mine/m"].output == 2


@pytest.mark.parametrize(
    ("section", "name", "texts", "faults"),
    [
        ("models", "", {"id": "m"}, {"name": "is missing"}),
        ("models", "cold", {}, {"id": "is missing"}),
        ("models", "warm", {"id": "m"}, {"name": "is in the config file already"}),
        (
            "prices",
            "m",
            {"input": "x", "output": "1"},
            {"input": "expected a number of USD per million tokens, from 0 to 1,000,000"},
        ),
        ("providers", "m", {}, {"": "providers cannot be added here."}),
    ],
)
def test_an_invalid_entry_is_refused_by_field(
    tmp_path: Path, section: str, name: str, texts: dict[str, str], faults: dict[str, str]
) -> None:
    place = Place(tmp_path)
    with pytest.raises(FieldsRefused) as refused:
        place.settings.add(section, name, texts)
    assert refused.value.faults == faults
    assert place.text == CONFIG


def test_the_edit_of_another_program_stays(tmp_path: Path) -> None:
    place = Place(tmp_path)
    theme, limit = place.get("theme"), place.get("risk.limits.high")
    place.file.write_text(CONFIG.replace("high: 8", "high: 7") + "reviewer: Bob\n")
    place.settings.save(theme, "assay-light")
    assert place.text == CONFIG.replace("high: 8", "high: 7").replace("harbour", "assay-light") + "reviewer: Bob\n"
    with pytest.raises(FieldsRefused, match="Another program has changed it: it is 7 now"):
        place.settings.save(limit, "9")
    with pytest.raises(FieldsRefused, match="Another program has changed it: it is 7 now"):
        place.settings.remove(limit)


def test_a_file_that_another_program_broke_stays_as_it_is(tmp_path: Path) -> None:
    place = Place(tmp_path)
    theme = place.get("theme")
    broken = CONFIG + "revewer: Bob\n"
    place.file.write_text(broken)
    found = place.settings.read()
    assert f"{place.file}:17:1: error: revewer: unknown key. Did you mean reviewer?" in found.fault
    assert found.settings
    with pytest.raises(FieldsRefused, match="revewer: unknown key"):
        place.settings.save(theme, "assay-light")
    assert place.text == broken


def test_two_programs_that_edit_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path, "")
    folders = Folders(tmp_path / "c", tmp_path / "d", tmp_path / "k")
    others = [ConfigSettings(ConfigFile(folders, {}, None), {}, lambda _: None) for _ in range(4)]
    threads = [
        threading.Thread(
            target=lambda at=at, each=each: [each.add("rules", f"m{at}-{n}", {"": "local"}) for n in range(5)]
        )
        for at, each in enumerate(others)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(place.text.splitlines()) == 21


def test_a_setting_of_the_project_file_is_not_hidden_by_an_edit(tmp_path: Path) -> None:
    place = Place(tmp_path, project="theme: assay-light\n")
    with pytest.raises(FieldsRefused, match=r"It is set by the project file, .*\.assay\.yaml:1; edit that file\."):
        place.settings.save(place.get("theme"), "harbour")
    place.settings.save(place.get("reviewer"), "Ada")
    assert (place.used[-1].theme, place.used[-1].reviewer) == ("assay-light", "Ada")


def test_a_missing_config_file_is_created_for_its_owner_only(tmp_path: Path) -> None:
    place = Place(tmp_path, None)
    place.settings.save(place.get("reviewer"), "Ada")
    assert (place.text, stat.S_IMODE(place.file.stat().st_mode)) == ("reviewer: Ada\n", 0o600)


async def test_a_session_uses_a_changed_setting_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".assay.yaml").write_text("review: {repeats: 20}\nproviders: {x: {}}\n")
    names = ("CONFIG", "DATA", "CACHE")
    session = Session({f"ASSAY_{name}_DIR": str(tmp_path / name.lower()) for name in names})
    try:
        assert any(".assay.yaml:2:1: error: providers: cannot be set" in notice for notice in session.notices)
        settings = {each.name: each for each in session.settings.read().settings}
        session.settings.save(settings["risk.limits.high"], "8")
        session.settings.add("models", "warm", {"provider": "local", "id": "smollm2-135m"})
        assert dict(session.reviews.rule.limits)["high"] == 8
        assert session.reviews.repeats == 20
        assert session.resolve(["warm"])[0].provider == "local"
    finally:
        await session.close()
