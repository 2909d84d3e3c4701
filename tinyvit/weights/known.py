"""Published weights by name: tinyvit's own list, and the models of Hugging Face's hub.

Models of the hub, such as facebook/dinov2-small, come through the package huggingface_hub, which keeps what
it downloads in a cache of its own, shows progress on a terminal, and reads HF_TOKEN and HF_ENDPOINT from the
environment. Only weights that run no code are downloaded, and what describes them.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from tinyvit.support.errors import UserError, did_you_mean
from tinyvit.support.files import cache_folder
from tinyvit.support.files.download import Report, download
from tinyvit.weights.read import TORCH_ENDINGS

FILE_ENDINGS = (".npz", ".safetensors", *TORCH_ENDINGS)  # a name that ends so is that of a file
_HOST = "https://storage.googleapis.com/vit_models/"
_AUGREG = "{}-i21k-300ep-lr_0.001-aug_{}-wd_0.03-do_0.0-sd_0.0--imagenet2012-steps_20k-lr_0.03-res_{}"


@dataclass(frozen=True)
class Known:
    """One published file: its address, and its size in bytes and SHA-256 checksum if they are known."""

    url: str
    size: int | None = None
    checksum: str | None = None


def _paper(folder: str) -> dict[str, Known]:
    sizes = ("B_16", "B_32", "L_16", "L_32")
    return {f"ViT-{size}": Known(f"{_HOST}{folder}/ViT-{size}.npz") for size in sizes}


# As in the paper: pre-trained on ImageNet-21k, or also fine-tuned on ImageNet at 384 pixels.
KNOWN = {f"{name}-in21k": known for name, known in _paper("imagenet21k").items()}
KNOWN |= _paper("imagenet21k+imagenet2012")
# 'How to train your ViT?': small models, fine-tuned on ImageNet.
KNOWN |= {
    "Ti_16-224": Known(f"{_HOST}augreg/{_AUGREG.format('Ti_16', 'none', 224)}.npz"),
    "Ti_16-384": Known(
        f"{_HOST}augreg/{_AUGREG.format('Ti_16', 'none', 384)}.npz",
        23_226_422,
        "sha256:4b99893dc1a5a2a7d9ad119671c20559850f865e1fa17ed23401a3fefa7fedc9",
    ),
    "S_16-384": Known(
        f"{_HOST}augreg/{_AUGREG.format('S_16', 'light1', 384)}.npz",
        88_851_254,
        "sha256:9e4155229ce0b767ef43ff1e3a9f4308a69b61f44969e0605df5f39047f2e7a8",
    ),
}


def is_known(name: str) -> bool:
    """True for one of the KNOWN names, in any case."""
    return name.lower() in map(str.lower, KNOWN)


def find_weights(name: str, report: Report | None = None) -> Path:
    """The file for a path or a known name, downloaded into the cache folder if it is not there yet.

    The cache is $TINYVIT_CACHE, or ~/.cache/tinyvit. Raises UserError if the name is neither a file nor a
    known name, or if the download fails.
    """
    path = Path(name)
    if os.path.exists(path) or path.suffix.lower() in FILE_ENDINGS:
        return path
    if not is_known(name):
        raise UserError(
            f"{name} is not a run folder, a file, or a known name{did_you_mean(name, KNOWN)}; the known "
            f"names are {', '.join(KNOWN)}."
        )
    key = next(key for key in KNOWN if key.lower() == name.lower())
    known = KNOWN[key]
    target = cache_folder() / f"{key}.npz"  # not the file name in the address, which several files share
    if not target.exists():
        otherwise = (
            "Download it by other means and give the path of the file. Downloads are kept in "
            f"{target.parent}, or in the folder that TINYVIT_CACHE names."
        )
        download(known.url, target, known.size, known.checksum, report, otherwise)
    return target


_NAME = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?")  # user/model, or user/model@revision
_FILES = ["*.json", "*.safetensors", "merges.txt"]


def is_hub_name(name: str) -> bool:
    """True if this could be the name of a model there, with a revision after an @ if need be.

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
