"""Published weights by name: where they are, how they are checked, and where they are kept."""

import os
from dataclasses import dataclass
from pathlib import Path

from tinyvit.errors import UserError
from tinyvit.files import cache_folder
from tinyvit.files.download import Report, download
from tinyvit.weights.torch_files import TORCH_ENDINGS

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


def find_weights(name: str, report: Report | None = None) -> Path:
    """The file for a path or a known name, downloaded into the cache folder if it is not there yet.

    The cache is $TINYVIT_CACHE, or ~/.cache/tinyvit. Raises UserError if the name is neither a file nor a
    known name, or if the download fails.
    """
    path = Path(name)
    if os.path.exists(path) or path.suffix.lower() in FILE_ENDINGS:
        return path
    key = next((key for key in KNOWN if key.lower() == name.lower()), None)
    if key is None:
        raise UserError(
            f"{name} is not a run folder, a file, or a known name; the known names are {', '.join(KNOWN)}."
        )
    known = KNOWN[key]
    target = cache_folder() / f"{key}.npz"  # not the file name in the address, which several files share
    if not target.exists():
        otherwise = (
            "Download it by other means and give the path of the file. Downloads are kept in "
            f"{target.parent}, or in the folder that TINYVIT_CACHE names."
        )
        download(known.url, target, known.size, known.checksum, report, otherwise)
    return target
