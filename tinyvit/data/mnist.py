"""MNIST and Fashion-MNIST: 28 x 28 grey images in four idx files, read as three equal channels.

Sources: LeCun, Cortes and Burges, http://yann.lecun.com/exdb/mnist/, which no longer serves the files;
Xiao, Rasul and Vollgraf 2017, https://github.com/zalandoresearch/fashion-mnist. The checksums are those in
torchvision.datasets.MNIST and FashionMNIST.

An idx file is a header of big-endian 4-byte numbers and then the bytes: 0x0800 plus the number of axes, the
length of each axis, the pixels or labels.
"""

import gzip
import hashlib
import zlib
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import prod
from pathlib import Path

import numpy as np

from tinyvit.data.dataset import Dataset, ImageSet, Note
from tinyvit.support.errors import UserError
from tinyvit.support.files import open_regular
from tinyvit.support.files.download import REDOWNLOAD, Report, download

SIDE = 28
_FILES = [f"{part}-{kind}-ubyte" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")]
_MOST, _PIECE = 1 << 30, 1 << 20  # bytes: of an unpacked file, 20 times MNIST's, and of what is read at once


@dataclass(frozen=True)
class Source:
    """Everything specific to one of the two data sets.

    folder is where torchvision keeps it; urls are folders with the four files; packed has the size and the
    MD5 of each compressed file; pixels is the MD5 of the training images, unpacked.
    """

    classes: tuple[str, ...]
    folder: str
    urls: tuple[str, ...]
    packed: tuple[tuple[int, str], ...]
    pixels: str


SOURCES = {
    "mnist": Source(
        tuple("0123456789"),
        "MNIST",
        (
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            "https://storage.googleapis.com/cvdf-datasets/mnist/",
            "https://raw.githubusercontent.com/fgnt/mnist/master/",
        ),
        (
            (9_912_422, "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
            (28_881, "d53e105ee54ea40749a09fcbcd1e9432"),
            (1_648_877, "9fb629c4189551a2d022fa330f9573f3"),
            (4_542, "ec29112dd5afa0611ce80d1b7f02629c"),
        ),
        "6bbc9ace898e44ae57da46a324031adb",
    ),
    "fashion-mnist": Source(
        (
            *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
            *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
        ),
        "FashionMNIST",
        (
            "https://storage.googleapis.com/tensorflow/tf-keras-datasets/",
            "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        ),
        (
            (26_421_880, "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
            (29_515, "25c81989df183df01b3e8a0aad5dffbe"),
            (4_422_102, "bef4ecab320f06d8554ea6380940ec79"),
            (5_148, "bb300cfdad3c16e7a12a480ee83cd310"),
        ),
        "f4a8712d7a061bf5bd6d2ca38dc4d50a",
    ),
}


def load_mnist(
    name: str,
    data_dir: Path,
    url: str | None = None,
    report: Report | None = None,
    note: Note = lambda line: None,
) -> Dataset:
    """'mnist' or 'fashion-mnist': 60,000 training and 10,000 test images (n, 28, 28, 3).

    The files, compressed or not, are looked for in the data set's own folders in data_dir and in data_dir
    itself. If they are not there, they are downloaded into data_dir/NAME, from the first of their sources
    that is fast enough; or from the folder that url leads to. note receives a line if the files are not the
    official ones: other data in this form may be meant.

    Raises UserError if a file is damaged or belongs to the other data set, or if the download fails.
    """
    source, paths = SOURCES[name], _find(name, data_dir)
    if paths is None:
        paths = _download(name, data_dir / name, url, report)
    contents = [_content(path) for path in paths]
    pixels = hashlib.md5(contents[0], usedforsecurity=False).hexdigest()
    if found := [each for each in SOURCES if each != name and SOURCES[each].pixels == pixels]:
        raise UserError(f"{paths[0].parent} contains the files of {found[0]}: give --dataset {found[0]}.")
    if pixels != source.pixels:
        note(f"{paths[0].parent}: not {name} as published (by MD5), which is fine for other data in its form")
    arrays = [_parsed(path, content) for path, content in zip(paths, contents, strict=True)]
    train, test = (_image_set(source, paths[i : i + 2], *arrays[i : i + 2]) for i in (0, 2))
    return Dataset(name, source.classes, train, test)


def is_at_hand(name: str, data_dir: Path) -> bool:
    """True if load_mnist would find everything in data_dir, without a download."""
    return _find(name, data_dir) is not None


def _find(name: str, data_dir: Path) -> list[Path] | None:
    """The four files, all in one folder, by any of their usual names."""
    folder = SOURCES[name].folder
    for place in (name, f"{folder}/raw", folder, "raw", ""):
        paths = []
        for file in _FILES:
            names = (name + ending for name in (file, file.replace("-idx", ".idx")) for ending in ("", ".gz"))
            paths += [path for name in names if (path := data_dir / place / name).is_file()][:1]
        if len(paths) == len(_FILES):
            return paths
    return None


def _download(name: str, folder: Path, url: str | None, report: Report | None) -> list[Path]:
    """The four compressed files, each of them downloaded unless it is there."""
    paths, before = [folder / f"{file}.gz" for file in _FILES], 0
    whole = sum(size for size, _ in SOURCES[name].packed)

    def report_in_all(before: int, done: int, _: int | None) -> None:
        if report:
            report(before + done, whole)

    for path, (size, checksum) in zip(paths, SOURCES[name].packed, strict=True):
        urls = [f"{place.rstrip('/')}/{path.name}" for place in ([url] if url else SOURCES[name].urls)]
        if not path.exists():
            download(urls, path, size, f"md5:{checksum}", partial(report_in_all, before))
        before += size
    return paths


def _content(path: Path) -> bytes:
    """The contents of a file, unpacked if it is compressed."""
    try:
        with open_regular(path) as file:
            is_packed = file.peek(2)[:2] == b"\x1f\x8b"
            source = gzip.GzipFile(fileobj=file) if is_packed else file
            pieces = iter(partial(source.read, _PIECE), b"")  # read(n) makes room for n bytes at once
            content = b"".join(islice(pieces, _MOST // _PIECE + 1))
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(
            f"{path} cannot be read ({error}): it is truncated or damaged. {REDOWNLOAD}"
        ) from error
    if len(content) > _MOST:
        raise UserError(f"{path} holds more than {_MOST:,} bytes: it is not an idx file. {REDOWNLOAD}")
    return content


def _parsed(path: Path, content: bytes) -> np.ndarray:
    """The array uint8 that an idx file holds."""
    axes = 3 if "images" in path.name else 1
    header = 4 + 4 * axes
    magic, *shape = (int.from_bytes(content[i : i + 4], "big") for i in range(0, header, 4))
    if magic != 0x0800 + axes or len(content) < header:
        raise UserError(
            f"{path} begins with {content[:4].hex() or 'nothing'}, expected {0x0800 + axes:08x}: it is not "
            f"an idx file of {'images' if axes == 3 else 'labels'}. {REDOWNLOAD}"
        )
    expected, size = header + prod(shape), len(content)
    if size != expected:
        wrong = "the file is truncated" if size < expected else "the file is too long"
        raise UserError(f"{path} has {size:,} bytes, expected {expected:,}: {wrong}. {REDOWNLOAD}")
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


def _image_set(source: Source, paths: list[Path], images: np.ndarray, labels: np.ndarray) -> ImageSet:
    """Images and labels of two files. Raises UserError if they do not belong together."""
    if images.shape[1:] != (SIDE, SIDE) or not 0 < len(images) == len(labels):
        raise UserError(
            f"{paths[0]} has images of shape {images.shape} and {paths[1].name} {len(labels):,} labels, "
            f"expected (n, {SIDE}, {SIDE}) and n. {REDOWNLOAD}"
        )
    if labels.max() >= len(source.classes):
        raise UserError(
            f"{paths[1]} has the label {labels.max()}, expected 0 to {len(source.classes) - 1}. {REDOWNLOAD}"
        )
    return ImageSet(np.repeat(images[..., None], 3, axis=3), labels.astype(np.int64))
