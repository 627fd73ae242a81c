"""Loading the user's config.yaml; all problems are reported at once, with their positions."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tui.config.folders import CONFIG_FILE, MOST_CONFIG_BYTES
from tui.documents.files import read_beginning
from tui.documents.yaml_nodes import FileRules, Findings, read_nodes
from tui.model.errors import ConfigError
from tui.model.servers import KEY_VARIABLES, URL_VARIABLES, query_secrets, variable
from tui.model.subjects import Config

_MOST_DEPTH = 16
_RULES = FileRules(
    most_bytes=MOST_CONFIG_BYTES,
    most_depth=_MOST_DEPTH,
    sentences={
        "size": f"is larger than {MOST_CONFIG_BYTES // 1024} KiB, the limit for a config file",
        "encoding": "is not UTF-8 (byte {})",
        "syntax": "is not valid YAML: {}",
        "characters": "is not valid YAML: {}",
        "depth": f"is nested deeper than {_MOST_DEPTH} levels",
        "alias": "aliases (*name) are not supported; repeat the value",
        "tag": "tags (!name) are not supported; remove the tag",
        "duplicate": "duplicate key; remove one",
    },
)


def load_config(folder: Path, environ: Mapping[str, str]) -> Config:
    """Load `config.yaml` of that folder with environment variables filled in; without it, only the environment applies.

    Raises ConfigError, which has the problems and whose text is one line `file:line:column: error: where: what` each.
    """
    keys = {name: value for name in KEY_VARIABLES if (value := variable(environ, name))}
    for name in URL_VARIABLES:
        keys |= {f"{name}.{number}": key for number, key in enumerate(query_secrets(variable(environ, name) or ""))}
    path = folder / CONFIG_FILE
    try:
        data = read_beginning(path, _RULES.most_bytes)
    except FileNotFoundError:
        return Config(secrets=keys)
    except OSError as error:
        raise ConfigError(
            f"cannot be read ({error.strerror})", where=str(path), fix="Fix or remove the file."
        ) from error
    # Only a file needs pydantic, which is expensive to import.
    from tui.config.entries import read_config

    findings = Findings(str(path), _RULES)
    tree = read_nodes(data, findings)
    config = Config(secrets=keys) if tree is None else read_config(tree, path, environ, keys)
    problems = findings.in_order()
    if any(problem.level == "error" for problem in problems):
        raise ConfigError("\n".join(map(str, problems)), problems)
    return replace(config, path=str(path), warnings=problems)
