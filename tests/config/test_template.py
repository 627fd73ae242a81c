"""The config file that `assay config init` writes, and the schema for editors."""

import re
from pathlib import Path
from typing import Any

import yaml

from tui.config.load import load_config
from tui.config.shapes import ConfigShape
from tui.config.template import config_schema, config_template


def uncommented() -> str:
    """Return the template with every setting in use."""
    return re.sub(r"(?m)^# ", "", config_template())


def test_the_template_changes_nothing() -> None:
    assert yaml.safe_load(config_template()) is None


def test_every_setting_of_the_template_is_valid(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(uncommented())
    file.chmod(0o600)
    config = load_config(tmp_path, {"MY_KEY": "secret-key"})
    assert config.theme == "assay-light"
    assert config.keymap == {"run.case": "ctrl+r"}
    assert config.prices["my-server/some-model"].input == 0.5
    assert config.variants["warm"].settings.temperature == 0.8


def test_the_template_has_every_setting() -> None:
    found = yaml.safe_load(uncommented())
    assert set(found) == set(ConfigShape.__annotations__)
    shapes: Any = config_schema()["$defs"]
    for name, shape in (("models", "VariantShape"), ("providers", "ProviderShape"), ("prices", "PriceShape")):
        (entry,) = found[name].values()
        assert set(entry) == set(shapes[shape]["properties"]), name


def test_each_setting_is_explained() -> None:
    lines = config_template().splitlines()
    for line, above in zip(lines[1:], lines, strict=False):
        setting = re.match(r"# ( *)([\w./\"*-]+):", line)
        if setting and setting[2] not in ("warm", "my-server", "my-server/some-model", '"qwen*"', "run.case", "X-Team"):
            assert above.startswith("## "), line
