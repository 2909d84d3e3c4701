"""Models of Hugging Face's hub by name, such as facebook/dinov2-small, through the package huggingface_hub.

That package keeps what it downloads in a cache of its own, shows progress on a terminal, and reads HF_TOKEN
and HF_ENDPOINT from the environment. Only weights that run no code are downloaded, and what describes them.
"""

import os
import re
from pathlib import Path

from tinyvit.errors import UserError
from tinyvit.weights.known import FILE_ENDINGS

_NAME = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?")  # user/model, or user/model@revision
_FILES = ["*.json", "*.safetensors", "merges.txt"]


def is_hub_name(name: str) -> bool:
    """Whether this could be the name of a model there, with a revision after an @ if need be.

    What looks like a path here, as its first part is a folder or it ends like a file of weights, is not one.
    """
    path = Path(name)
    is_file = os.path.exists(path) or path.suffix.lower() in (*FILE_ENDINGS, ".onnx")
    return bool(_NAME.fullmatch(name)) and not (is_file or os.path.isdir(path.parent))


def from_hub(name: str) -> Path:
    """The folder with the files of that model, in the cache of huggingface_hub.

    Raises UserError if the package is not installed, or if there is no such model or no way to it.
    """
    try:
        from huggingface_hub import snapshot_download  # here, as only these names need the package
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError:
        raise UserError(
            f"{name} is not a file or folder here. If it is a model on Hugging Face's hub, install the "
            "package that finds it there: pip install huggingface_hub."
        ) from None
    repository, _, revision = name.partition("@")
    try:
        return Path(snapshot_download(repository, revision=revision or None, allow_patterns=_FILES))
    except LocalEntryNotFoundError as error:
        raise UserError(
            f"{name} is not in the cache, and Hugging Face's hub cannot be reached: {_first_line(error)} "
            "Connect to the internet, or give a folder with the model."
        ) from error
    except HfHubHTTPError as error:
        raise UserError(
            f"Hugging Face's hub refused {name}: {_first_line(error)} Check its spelling. A gated model "
            "needs a token in HF_TOKEN."
        ) from error
    except (OSError, ValueError) as error:
        raise UserError(f"{name} cannot be downloaded: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    line = next(iter(str(error).strip().splitlines()), type(error).__name__).strip()
    return line if line.endswith(".") else f"{line}."
