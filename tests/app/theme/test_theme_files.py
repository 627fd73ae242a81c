"""The themes that ship, the files that a person writes, and the app that follows them."""

import os
from pathlib import Path

import pytest
from textual.app import ComposeResult
from textual.widgets import Static
from textual.widgets._toast import Toast

from tests.support.pilots import until
from tests.support.terminal import Screen, Terminal, run_here
from tui.app.theme import theme_files
from tui.app.theme.palette import COLOURS, DARK_DEFAULT, DEFAULT_PALETTE, Palette, contrast
from tui.app.theme.theme_files import ThemeFiles
from tui.app.theme.themed_app import ThemedApp, as_theme
from tui.model.shipped import shipped_folder

SHIPPED = {
    palette.name: palette
    for palette in (*ThemeFiles([shipped_folder("themes")]).read_changed().palettes, DEFAULT_PALETTE)
}
LOW_VISION = {"beacon", "beacon-light"}
GROUNDS = ("background", "raised", "selected")
TEXTS = ("foreground", "accent", "passed", "failed", "error-mark", "flaky", "running")
MARKS = ("match-expected", "match-forbidden", "match-current")
CODE = tuple(colour for colour in COLOURS if colour.startswith("code-") and colour != "code-comment")


def read(folder: Path) -> tuple[dict[str, Palette], list[str]]:
    found = ThemeFiles([folder]).read_changed()
    return {palette.name: palette for palette in found.palettes}, [str(problem) for problem in found.problems]


def test_there_are_light_and_dark_themes_and_each_file_is_right() -> None:
    found = ThemeFiles([shipped_folder("themes")]).read_changed()
    assert found.problems == ()
    assert {name: palette.dark for name, palette in SHIPPED.items()} == {
        "assay-dark": True,
        "assay-light": False,
        "beacon": True,
        "beacon-light": False,
        "ember": True,
        "harbour": False,
        "okabe": True,
    }


def test_the_default_theme_in_the_code_is_the_one_in_the_file() -> None:
    text = (shipped_folder("themes") / "assay-dark.yaml").read_text()
    assert [line.strip() for line in text.splitlines() if line.startswith("  ")] == [
        f'{colour}: "{value}"' for colour, value in DARK_DEFAULT.items()
    ]
    assert SHIPPED["assay-dark"] == DEFAULT_PALETTE


@pytest.mark.parametrize("name", SHIPPED)
def test_text_can_be_read_on_every_ground(name: str) -> None:
    colours = SHIPPED[name].colours
    pairs = [(text, ground) for text in TEXTS for ground in GROUNDS]
    pairs += [(mark, f"{mark}-background") for mark in MARKS] + [(code, "background") for code in CODE]
    dim = [("dim", ground) for ground in GROUNDS] + [("code-comment", "background")]
    least = 7.0 if name in LOW_VISION else 4.5
    too_weak = {
        (front, back): round(contrast(colours[front], colours[back]), 2)
        for minimum, group in ((least, pairs), (least if name in LOW_VISION else 3.0, dim))
        for front, back in group
        if contrast(colours[front], colours[back]) < minimum
    }
    assert too_weak == {}
    assert contrast(colours["focused-border"], colours["background"]) >= 3
    assert contrast(colours["focused-border"], colours["quiet-border"]) >= 1.5, "focus is seen by the border alone"


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


def test_blue_and_orange_stand_apart_for_colour_blind_eyes() -> None:
    """No mark differs by red against green alone: the blue channels of passed and failed are far apart."""
    colours = SHIPPED["okabe"].colours
    for one, other in (("passed", "failed"), ("match-expected-background", "match-forbidden-background")):
        assert int(colours[one][5:], 16) - int(colours[other][5:], 16) > 80


BAD = {
    "name: a\ncolours:\n  dim: #123456\n": ":3:7: error: colours.dim: expected six hexadecimal digits",
    'name: a\ncolours: {dimm: "#123456"}': ":2:17: error: colours.dimm: unknown colour; did you mean `dim`?",
    'name: a\ncolours: {dim: "red"}': ":2:16: error: colours.dim: expected six",
    'name: a\ncolours: {dim: "#123456", dim: "#123456"}': ":2:27: error: colours.dim: duplicate key",
    'name: A b\ncolours: {dim: "#123456"}': ":1:7: error: name: expected lower-case letters",
    "name: [a]\ncolours: {}": ":1:7: error: name: expected lower-case letters",
    "name: a\ndark: maybe\ncolours: {}": ":2:7: error: dark: expected true or false",
    "name: a\ncolors: {}": ":2:9: error: colors: unknown key; available: name, dark, extends, colours",
    "name: a": ": error: colours: is missing",
    "colours: {}": ": error: name: is missing",
    "name: a\ncolours: 3": ":2:10: error: colours: expected a mapping of names to colours",
    "- a": ":1:1: error: expected a mapping with `name` and `colours`",
    "": ": error: expected a mapping with `name` and `colours`",
    "name: a\ncolours: {": ":3:1: error: not YAML: ",
    "name: \x00": ": error: not YAML: contains characters that YAML does not allow",
    "[" * 900: ":1:5: error: nested values and aliases are not supported in themes",
    "a: &a 1\nb: *a": ":2:4: error: nested values and aliases are not supported in themes",
    "#" * 40_000: ": error: the limit for a theme is 32 KiB",
    "name: a\nextends: nowhere\ncolours: {}": ": error: extends: unknown theme `nowhere`",
    "name: a\nextends: a\ncolours: {}": ": error: extends: `a` cannot extend itself",
}  # fmt: skip


def test_a_depth_that_the_yaml_parser_refuses_is_no_syntax_error(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("[" * 30_000)
    _, [problem] = read(tmp_path)
    assert problem.endswith(": error: nested values and aliases are not supported in themes"), problem


@pytest.mark.parametrize(("text", "message"), BAD.items(), ids=range(len(BAD)))
def test_what_is_wrong_in_a_file_is_reported_and_the_others_are_used(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(text)
    (tmp_path / "good.yaml").write_text("name: good\ncolours: {}")
    palettes, problems = read(tmp_path)
    assert list(palettes) == ["good"]
    assert len(problems) == 1, problems
    assert problems[0].startswith(f"{tmp_path / 'a.yaml'}{message}")


def test_a_file_that_cannot_be_read_is_reported_too(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe")
    (tmp_path / "b.yaml").mkdir()
    (tmp_path / "c.yaml").symlink_to(tmp_path / "nothing")
    _, problems = read(tmp_path)
    assert [problem.removeprefix(str(tmp_path)) for problem in problems] == [
        "/a.yaml: error: is not UTF-8 text",
        "/b.yaml: error: cannot be read: Is a directory",
    ]


def test_a_theme_takes_what_it_does_not_say_from_the_one_it_extends(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text('name: one\nextends: two\ncolours: {dim: "#AABBCC"}')
    (tmp_path / "two.yaml").write_text('name: two\ndark: false\nextends: assay-dark\ncolours: {accent: "#010203"}')
    (tmp_path / "own.yaml").write_text('name: assay-dark\ncolours: {failed: "#ff0000"}')
    palettes, problems = read(tmp_path)
    assert problems == []
    assert palettes["one"].dark is False
    assert palettes["one"].colours == {**DARK_DEFAULT, "failed": "#ff0000", "accent": "#010203", "dim": "#aabbcc"}


def test_only_what_was_saved_is_read_again_and_a_slip_keeps_the_last_good_state(tmp_path: Path) -> None:
    files, path = ThemeFiles([tmp_path]), tmp_path / "mine.yaml"
    path.write_text('name: mine\ncolours: {dim: "#111111"}')
    assert [palette.name for palette in files.read_changed().palettes] == ["mine"]
    assert files.read_changed() == ThemeFiles([]).read_changed()
    path.write_text("name: mine\ncolours: {dim: ")
    slip = files.read_changed()
    assert slip.palettes == ()
    assert "not YAML" in str(slip.problems[0])
    path.write_text('name: mine\ncolours: {dim: "#222222"}')
    assert [palette.colours["dim"] for palette in files.read_changed().palettes] == ["#222222"]


class Sample(ThemedApp[None]):
    CSS = "Static { color: $passed; background: $match-expected-background; border: solid $quiet-border; }"

    def compose(self) -> ComposeResult:
        yield Static("a text")


async def test_every_theme_can_be_worn_and_defines_each_variable() -> None:
    app = Sample(theme_folders=[shipped_folder("themes")])
    async with app.run_test() as pilot:
        await app.workers.wait_for_complete([worker for worker in app.workers if worker.group != "themes"])
        for palette in SHIPPED.values():
            app.register_theme(as_theme(palette))
            app.theme = palette.name
            await pilot.pause()
            assert app.query_one(Static).styles.color.hex.lower() == palette.colours["passed"]
            assert {colour: app.theme_variables[colour] for colour in COLOURS} == palette.colours
    assert not [theme for theme in app.available_themes if theme not in SHIPPED]


APP = """
import sys
from pathlib import Path
from tests.app.theme.test_theme_files import Sample
Sample(theme=sys.argv[1], theme_folders=[Path(folder) for folder in sys.argv[2:]]).run()
"""


def front_of(screen: Screen) -> str:
    return screen.cell_of("a text").front if "a text" in screen else ""


def save(path: Path, text: str) -> None:
    """The way editors do it: whole, in one moment."""
    written = path.with_suffix(".new")
    written.write_text(text)
    written.replace(path)


def test_a_saved_theme_is_worn_at_once_and_a_slip_is_a_notice(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text('name: mine\ncolours: {passed: "#00ff01"}')
    with Terminal(run_here("-c", APP, "mine", shipped_folder("themes"), tmp_path), size=(100, 20)) as terminal:
        terminal.wait_until(lambda screen: front_of(screen) == "00ff01", "the person's own theme")
        save(path, 'name: mine\ncolours: {passed: "#fe00ff"}')
        terminal.wait_until(lambda screen: front_of(screen) == "fe00ff", "the theme as saved")
        save(path, 'name: mine\ncolours: {passd: "#fe00ff"}')
        terminal.wait_for("passd")
        assert front_of(terminal.screen) == "fe00ff"
        assert b"#cdd3de" not in terminal.raw


def test_a_theme_that_is_not_there_is_a_notice_and_the_default_is_worn(tmp_path: Path) -> None:
    with Terminal(run_here("-c", APP, "gone[/b]", tmp_path), size=(100, 20)) as terminal:
        terminal.wait_for("Unknown theme gone[/b]")
        assert front_of(terminal.screen) == DARK_DEFAULT["passed"][1:]


def test_the_default_theme_loads_no_yaml(tmp_path: Path) -> None:
    program = "import sys\nfrom tui.app.theme.themed_app import ThemedApp\nThemedApp()\nprint('yaml' in sys.modules)"
    with Terminal(run_here("-c", program), env={"HOME": tmp_path}) as terminal:
        terminal.wait_for("False")
        assert terminal.wait_exit() == os.EX_OK


async def test_theme_files_are_read_although_no_paint_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a screen is pushed before the first paint."""
    app: ThemedApp[None] = ThemedApp(theme_folders=[shipped_folder("themes")])
    monkeypatch.setattr(app, "call_after_refresh", lambda *_, **__: True)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "assay-light" in app.available_themes)


def test_only_the_first_problems_of_a_file_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theme_files, "_MOST_PROBLEMS", 2)
    (tmp_path / "a.yaml").write_text("name: a\ncolours: {}\nx1: \nx2: \nx3: \nx4: ")
    _, problems = read(tmp_path)
    assert [problem.removeprefix(str(tmp_path)) for problem in problems] == [
        "/a.yaml:3:4: error: x1: unknown key; available: name, dark, extends, colours",
        "/a.yaml:4:4: error: x2: unknown key; available: name, dark, extends, colours",
        "/a.yaml: error: 2 more problems not listed; fix these",
    ]


def test_a_theme_extends_few_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theme_files, "_MOST_LINKS", 3)
    monkeypatch.setattr(theme_files, "_MOST_NAMES", 2)
    for name, base in (("a", "b"), ("b", "c"), ("c", "d"), ("d", "assay-dark"), ("e", "gone"), ("f", "f")):
        (tmp_path / f"{name}.yaml").write_text(f"name: {name}\nextends: {base}\ncolours: {{}}")
    palettes, problems = read(tmp_path)
    assert list(palettes) == ["b", "c", "d"]
    assert [problem.partition("extends: ")[2] for problem in problems] == [
        "extends more than 3 themes, one through the other",
        "unknown theme `gone`; available: a, b, …",
        "`f` cannot extend itself, directly or through other themes",
    ]


@pytest.mark.parametrize(("limit", "most"), [("_MOST_FILES", 2), ("_MOST_TOTAL_KIB", 1), ("_MOST_ENTRIES", 2)])
def test_themes_over_a_limit_of_the_folder_are_left_out(
    limit: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(theme_files, limit, most)
    files = ThemeFiles([tmp_path])
    for name in "ab":
        (tmp_path / f"{name}.yaml").write_text(f"name: {name}\ncolours: {{}}\n".ljust(500, "#"))
    assert files.read_changed().problems == ()
    (tmp_path / "large.txt").write_text("") if limit == "_MOST_ENTRIES" else None
    (tmp_path / "c.yaml").write_text("name: c\ncolours: {}\n".ljust(500, "#"))
    assert "not all themes are read: the limit is" in str(files.read_changed().problems)
    assert files.read_changed() == ThemeFiles([]).read_changed()
    (tmp_path / "c.yaml").unlink()
    (tmp_path / "large.txt").unlink(missing_ok=True)
    files.read_changed()
    assert files.faults == ()


def test_only_the_first_entries_of_a_large_folder_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theme_files, "_MOST_ENTRIES", 2)
    for name in "abcdef":
        (tmp_path / f"{name}.yaml").write_text(f"name: {name}\ncolours: {{}}\n")
    palettes, problems = read(tmp_path)
    assert (len(palettes), len(problems)) == (3, 1)


def test_a_file_that_is_too_large_to_be_a_theme_does_not_hide_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(theme_files, "_MOST_TOTAL_KIB", 1)
    (tmp_path / "a.yaml").write_text("#" * (33 << 10))
    (tmp_path / "b.yaml").write_text("name: b\ncolours: {}\n")
    palettes, problems = read(tmp_path)
    assert list(palettes) == ["b"]
    assert [problem.partition(" error: ")[2] for problem in problems] == ["the limit for a theme is 32 KiB"]


async def test_many_problems_of_themes_are_few_notifications(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.yaml").write_text("".join(f"x{key}: \n" for key in range(60)))
    app = Sample(theme_folders=[tmp_path])
    async with app.run_test(notifications=True) as pilot:
        await until(pilot, lambda: len(app.screen.query(Toast)) > 0)
        shown = [str(toast.render()) for toast in app.screen.query(Toast)]
    assert len(shown) == 5
    assert shown[-1].endswith("23 more problems: see Change theme in the command palette.")
