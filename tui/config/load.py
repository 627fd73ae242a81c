"""Loading the user's config.yaml; all problems are reported at once, with their positions."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tui.config.folders import CONFIG_FILE, MOST_CONFIG_BYTES, find_folders
from tui.documents.files import read_beginning
from tui.documents.yaml_nodes import FileRules, Findings, read_nodes
from tui.model.errors import ConfigError, Problem
from tui.model.paths import url_secrets
from tui.model.secrets import Secrets, is_ordinary_word
from tui.model.servers import KEY_VARIABLES, URL_VARIABLES, query_secrets, variable
from tui.model.subjects import Config

_MOST_DEPTH = 16
_MOST_PROJECT_PROBLEMS = 8  # each is a notice of the app
_OTHER_KEYS = ("GITLAB_TOKEN", "ASSAY_SSH_PASSPHRASE")
_URLS_WITH_PASSWORDS = re.compile(r"\w+_proxy|ASSAY_GIT_CREDENTIALS", re.IGNORECASE)
_KEY_LINE = re.compile(r"auth|key|token|secret|pass|cookie|://", re.IGNORECASE)
_SETTING = re.compile(r"\s*(-\s+)*[\"']?[A-Za-z_-]+[\"']?\s*:(\s|$)")  # the name of a setting or header, no key
_WORD = re.compile(r"[^\s\"',{}\[\]@:]{8,}")
_INNER_SETTING = re.compile(r"[{,]\s*[\"']?[A-Za-z_-]+[\"']?\s*:\s")  # as in `{kind: openai, base_url: …}`
CONFIG_RULES = FileRules(
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

_PART_OF_ENTRY = re.compile(r"providers\..*[.#][0-9]+", re.DOTALL)


def load_config(folder: Path, environ: Mapping[str, str], project: Path | None = None) -> Config:
    """Load `config.yaml` of that folder with environment variables filled in; without it, only the environment applies.

    The settings of the file `project` replace those of the config file; its problems become warnings. Raises
    ConfigError, which has the problems and whose text is one line `file:line:column: error: where: what` each.
    """
    data = _read_file(folder)
    if data is None:
        config = Config(secrets=dict(_environment_secrets(environ)))
    else:
        config = parse_config(folder / CONFIG_FILE, data, environ)
    config = replace(config, warnings=(*config.warnings, *_warnings_of_words(config)))
    return with_project(config, project) if project is not None else config


def _warnings_of_words(config: Config) -> Iterator[Problem]:
    """Yield a warning for each key that may be a word of answers: without it, checks judge another text."""
    for name, value in config.secrets.items():
        if not is_ordinary_word(value) or _PART_OF_ENTRY.fullmatch(name):
            continue
        what = "looks like an ordinary word; it is removed from answers before they are judged. Use another key."
        yield Problem(config.path or "environment", None, None, "warning", name, what)


def with_project(config: Config, project: Path) -> Config:
    """Return the config with the settings of a project file. A faulty entry is ignored, and becomes a warning."""
    findings = Findings(str(project), CONFIG_RULES)
    try:
        if project.is_symlink():
            findings.add("is a symbolic link, which is not followed; replace it with a file")
        elif (tree := read_nodes(read_beginning(project, CONFIG_RULES.most_bytes), findings)) is not None:
            from tui.config.entries import read_project

            config = read_project(tree, config)
    except FileNotFoundError:
        return config
    except OSError as error:
        findings.add(f"cannot be read ({error.strerror})")
    problems = _without_secrets(findings.in_order(), config.secrets.values())
    if len(problems) > _MOST_PROJECT_PROBLEMS:
        left = len(problems) - _MOST_PROJECT_PROBLEMS
        more = Problem(str(project), None, None, "error", "", f"has {left} more problems")
        problems = (*problems[:_MOST_PROJECT_PROBLEMS], more)
    return replace(config, project=str(project), warnings=(*config.warnings, *problems))


def parse_config(file: Path, data: bytes, environ: Mapping[str, str]) -> Config:
    """Return the config that the content of a config file defines. Raises ConfigError with the problems."""
    config, problems = _read(file, data, environ, dict(_environment_secrets(environ)))
    problems = _without_secrets(problems, config.secrets.values())
    if any(problem.level == "error" for problem in problems):
        raise ConfigError("\n".join(map(str, problems)), problems)
    return replace(config, path=str(file), warnings=problems)


def _without_secrets(problems: tuple[Problem, ...], secrets: Iterable[str]) -> tuple[Problem, ...]:
    if not problems:
        return ()
    hide = Secrets(secrets).hide
    return tuple(replace(each, where=hide(each.where), what=hide(each.what)) for each in problems)


def known_secrets(environ: Mapping[str, str], words: Iterable[str] = ()) -> Secrets:
    """Return the secrets of the environment, of URLs among the words of the command line, and of the config file.

    They are for an error message: also those of an invalid config file are returned.

    Raises nothing: it is called when an error is being reported.
    """
    file, data = Path(), None
    try:
        folder = find_folders(environ).config
        file, data = folder / CONFIG_FILE, _read_file(folder)
    except Exception:  # noqa: BLE001 the error that is being reported may be one of this module
        pass
    in_urls = (key for word in words for key in query_secrets(word))
    return Secrets((*secrets_in(file, data or b"", environ), *in_urls))


def secrets_in(file: Path, data: bytes, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the secrets of the environment and those in the content of a config file, also of an invalid one.

    Raises nothing.
    """
    keys, is_valid = dict(_environment_secrets(environ)), False
    if not data:
        return tuple(keys.values())
    try:
        config, problems = _read(file, data, environ, keys)
        keys.update(config.secrets)
        is_valid = not any(problem.level == "error" for problem in problems)
    except Exception:  # noqa: BLE001 the error that is being reported may be one of this module
        pass
    return (*keys.values(), *(() if is_valid else _words_that_may_be_keys(data)))


def _environment_secrets(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the secrets in the variables that Assay itself uses, each with the name of its variable."""
    for name in (*KEY_VARIABLES, *_OTHER_KEYS):
        if value := variable(environ, name):
            yield name, value
    for name in URL_VARIABLES:
        for number, key in enumerate(query_secrets(variable(environ, name) or "")):
            yield f"{name}.{number}", key
    for name in environ:
        if _URLS_WITH_PASSWORDS.fullmatch(name):
            urls = (url if "://" in url else f"http://{url}" for url in environ[name].split())  # as curl and httpx do
            for number, key in enumerate(key for url in urls for key in url_secrets(url)):
                yield f"{name}.{number}", key


def _words_that_may_be_keys(data: bytes) -> Iterator[str]:
    """Yield the words of a config file that cannot be read as such, on lines that seem to contain a key."""
    for line in data.decode(errors="replace").splitlines():
        if _KEY_LINE.search(line):
            values = line[setting.end() if (setting := _SETTING.match(line)) else 0 :]
            yield from _WORD.findall(_INNER_SETTING.sub("{ ", values))


def _read_file(folder: Path) -> bytes | None:
    """Return the content of the config file, or None if there is none. Raises ConfigError."""
    path = folder / CONFIG_FILE
    try:
        return read_beginning(path, CONFIG_RULES.most_bytes)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(
            f"cannot be read ({error.strerror})", where=str(path), fix="Fix or remove the file."
        ) from error


def _read(
    path: Path, data: bytes, environ: Mapping[str, str], keys: Mapping[str, str]
) -> tuple[Config, tuple[Problem, ...]]:
    # Only a file needs pydantic, which is expensive to import.
    from tui.config.entries import read_config

    findings = Findings(str(path), CONFIG_RULES)
    tree = read_nodes(data, findings)
    config = Config(secrets=dict(keys)) if tree is None else read_config(tree, path, environ, keys)
    return config, findings.in_order()
