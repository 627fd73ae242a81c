"""Which files below a folder are suites, and in which order."""

from collections.abc import Mapping
from pathlib import Path

from tui.suites.load import find_suites


def found_in(folder: Path, files: Mapping[str, str | bytes]) -> list[str]:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return [path.relative_to(folder).as_posix() for path in find_suites(folder)]


def test_suites_are_listed_in_a_stable_order(tmp_path: Path) -> None:
    suite = "input: i\n"
    names = ["z.yaml", "a/b.json", "a/a.yml", "B.yaml", "a/c/d.YAML", "b/x.json"]
    expected = ["B.yaml", "z.yaml", "a/a.yml", "a/b.json", "a/c/d.YAML", "b/x.json"]
    assert found_in(tmp_path, dict.fromkeys(names, suite)) == expected


def test_other_folders_are_passed_over(tmp_path: Path) -> None:
    names = [
        ".hidden.yaml",
        ".github/workflows/ci.yml",
        "node_modules/x/a.json",
        "__pycache__/a.json",
        ".venv/a.yaml",
        "venv/a.yaml",
        "dist/a.yaml",
        "a.txt",
        "agent.py",
        "a.yaml.bak",
    ]
    assert found_in(tmp_path, dict.fromkeys(names, "input: i\n")) == []


def test_what_is_clearly_something_else_is_passed_over(tmp_path: Path) -> None:
    others = {
        "package.json": '{"name": "x", "version": "1", "scripts": {"test": "x"}}',
        "tsconfig.json": '{\n  "compilerOptions": {"strict": true}\n}',
        "compose.yaml": "services:\n  web:\n    image: x\n",
        "data.json": '[{"a": 1}, {"b": 2}]',
        "openapi.yaml": "openapi: 3.0.0\npaths:\n  /x:\n    steps: x\n",
        "pipeline.yml": "jobs:\n  a:\n    steps:\n    - run: x\n",
    }
    assert found_in(tmp_path, others) == []


def test_what_is_broken_or_doubtful_is_listed(tmp_path: Path) -> None:
    doubtful: dict[str, str | bytes] = {
        "a-empty.yaml": "",
        "b-binary.json": b"\xff\xfe\x00",
        "c-number.json": "5",
        "d-text.yaml": "hello",
        "e-broken.json": '{"testCases": [',
        "f-models.yaml": "models: [m]\n",
        "g-list.json": '[\n  {\n    "input": "i"}]',
        "h-misspelt.yaml": "test_cases: []\n",
        "i-steps.yaml": "description: d\nstep:\n- input: i\n",
        "j-minified.json": '{"name":"n","testCases":[]}',
        "k-list.yaml": "- input: i\n",
        "l-tab.yaml": "input: i\n\tx",
    }
    assert found_in(tmp_path, doubtful) == list(doubtful)


def test_a_file_is_itself_the_answer(tmp_path: Path) -> None:
    assert find_suites(tmp_path / "any.txt") == [tmp_path / "any.txt"]


def test_links_are_not_followed_in_circles(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "broken.yaml").symlink_to(tmp_path / "nowhere")
    assert found_in(tmp_path, {"a/s.yaml": "input: i\n"}) == ["a/s.yaml"]
