"""Every reader of files that tinyvit has: good files to begin with, how to damage them, how to read them."""

import gzip
import io
import json
import random
import shutil
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, features

from tests.data.scenes import seen, tiled_tiff
from tests.fuzz import structure
from tests.fuzz.mutate import damaged
from tests.helpers import tiny_config
from tinyvit.data import cifar, load_dataset, mnist
from tinyvit.data.decoding import without_pillow_warnings
from tinyvit.model import initialise
from tinyvit.support.files.archive import unpack
from tinyvit.support.files.npz import read_npz
from tinyvit.training.loading import load_any
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.settings import Settings
from tinyvit.weights.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from tinyvit.weights.folders import save_hugging_face
from tinyvit.weights.save import save_official, save_safetensors
from tinyvit.weights.words import read_words

CLASSES = ("a", "b", "c", "d", "e")
MEGABYTE = 1 << 20
WORDS = Path(__file__).parents[1] / "golden" / "words"


@dataclass(frozen=True)
class Reader:
    """One reader. file is where it looks for the damaged file, below a folder that prepare has filled.

    read must succeed or raise a UserError, taking at most `memory` bytes.
    """

    file: str
    seeds: Callable[[Path], list[bytes]]  # good files, made in an empty folder
    damage: Callable[[random.Random, bytes, Sequence[bytes]], bytes]
    read: Callable[[Path], object]  # given the folder
    prepare: Callable[[Path], None] = lambda folder: None
    memory: int = 300 * MEGABYTE


def make_checkpoint(path: Path, sealed: bool = True) -> None:
    config = tiny_config()
    params = initialise(config, 1)
    records = [{"epoch": 1, "step": 3, "train_loss": 1.0}]
    save_checkpoint(path, Checkpoint(config, params, {"m": params.flat + 1}, {"step": 3, "records": records}))
    if not sealed:
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files if name != "sealed"}
        np.savez(path, **arrays)


def make_run(folder: Path) -> None:
    run = RunFolder(folder)
    run.create(Settings(dataset="shapes", model="nano/4"), tiny_config(), CLASSES, 7)
    make_checkpoint(run.last_path)


def read_run(folder: Path) -> None:
    run = RunFolder.open(folder)
    run.settings(), run.classes(), run.load("last")


def make_metrics(folder: Path) -> list[bytes]:
    record = {"epoch": 1, "step": 3, "lr": 0.1, "train_loss": 0.5, "test_accuracy": None, "seconds": 1.5}
    return [b"".join(json.dumps(record | {"epoch": i}).encode() + b"\n" for i in (1, 2, 3))]


def make_hugging_face(folder: Path) -> None:
    config = tiny_config(gelu="exact", eps=1e-12)
    save_hugging_face(folder / "model", config, initialise(config, 1), CLASSES)


def read_hugging_face(folder: Path) -> None:
    load_any(str(folder / "model"))


def hugging_face_seeds(name: str) -> Callable[[Path], list[bytes]]:
    def seeds(folder: Path) -> list[bytes]:
        make_hugging_face(folder)
        timm = {"architecture": "vit_tiny_patch16_224", "num_classes": 5, "model_args": {"num_heads": 3}}
        timm |= {"pretrained_cfg": {"input_size": [3, 8, 8], "mean": [0.5] * 3, "std": [0.5] * 3}}
        other = [json.dumps(timm).encode()] if name == "config.json" else []
        return [(folder / "model" / name).read_bytes(), *other]

    return seeds


def make_index(folder: Path) -> None:
    make_hugging_face(folder)
    (folder / "model" / "model.safetensors").rename(folder / "model" / "one.safetensors")


def index_seeds(folder: Path) -> list[bytes]:
    make_index(folder)
    header = (folder / "model" / "one.safetensors").read_bytes()
    names = json.loads(header[8 : 8 + int.from_bytes(header[:8], "little")])
    listed = {name: "one.safetensors" for name in names if name != "__metadata__"}
    return [json.dumps({"weight_map": listed}).encode()]


def make_words(folder: Path) -> None:
    """A CLIP, whose tokenizer is also in one file, without a vocab.json."""
    for name in ("model", "whole/model"):
        shutil.copytree(WORDS, folder / name, dirs_exist_ok=True)
    merges = (WORDS / "merges.txt").read_text("utf-8").splitlines()[1:]
    whole = {"model": {"vocab": json.loads((WORDS / "vocab.json").read_bytes()), "merges": merges}}
    (folder / "whole/model/tokenizer.json").write_text(json.dumps(whole), encoding="utf-8")
    (folder / "whole/model/vocab.json").unlink()


def words_reader(file: str, damage: Callable[[random.Random, bytes, Sequence[bytes]], bytes]) -> Reader:
    """The image side and the text side of a CLIP, one of whose files is damaged."""

    def seeds(folder: Path) -> list[bytes]:
        make_words(folder)
        return [(folder / file).read_bytes()]

    def read(folder: Path) -> None:
        load_any(str((folder / file).parent))
        read_words((folder / file).parent).embed(["a cat", "it's 2 dogs!"])

    return Reader(file, seeds, damage, read, make_words)


def npz_seeds(folder: Path) -> list[bytes]:
    arrays = {"a": np.arange(6, dtype="float32"), "b/c": np.ones((2, 3)), "t": np.array("text")}
    np.savez(folder / "a.npz", **arrays)
    np.savez_compressed(folder / "b.npz", **arrays)
    return [(folder / name).read_bytes() for name in ("a.npz", "b.npz")]


def official_seeds(folder: Path) -> list[bytes]:
    config = tiny_config()
    save_official(folder / "a.npz", config, initialise(config, 1))
    return [(folder / "a.npz").read_bytes()]


def safetensors_seeds(folder: Path) -> list[bytes]:
    config = tiny_config(gelu="exact")
    save_safetensors(folder / "a.safetensors", config, initialise(config, 1))
    return [(folder / "a.safetensors").read_bytes()]


def checkpoint_seeds(folder: Path) -> list[bytes]:
    for sealed in (True, False):
        make_checkpoint(folder / f"{sealed}.npz", sealed)
    return [(folder / f"{sealed}.npz").read_bytes() for sealed in (True, False, False)]


def read_weights(folder: Path, name: str) -> None:
    load_any(str(folder / name))


def few_images() -> None:
    """Two images in each file of CIFAR, instead of thousands."""
    for source in cifar.SOURCES.values():
        for file in source.images_per_file:
            source.images_per_file[file] = 2


def make_cifar(folder: Path) -> None:
    few_images()
    rng = np.random.default_rng(1)
    for file in cifar.CIFAR10.binary.members:
        path = folder / Path(file).name
        records = rng.integers(0, 256, (2, 3073), dtype=np.uint8)
        records[:, 0] = 3
        path.write_bytes(records.tobytes())


def make_pickles(folder: Path) -> None:
    few_images()
    for file in cifar.CIFAR10.python.members:
        (folder / Path(file).name).write_bytes(pickles()[0])


def pickles() -> list[bytes]:
    """A batch as it is pickled today, and as Python 2 did."""
    import pickle

    pixels = np.arange(2 * 3072, dtype=np.uint8).reshape(2, 3072)
    batch = {b"data": pixels, b"labels": [3, 1], b"filenames": [b"a.png", b"b.png"]}
    old = b"\x80\x02}q\x01(U\x06labelsq\x02]q\x03(K\x03K\x01eU\x04dataq\x04cnumpy.core.multiarray\n"
    old += b"_reconstruct\nq\x05cnumpy\nndarray\nq\x06K\x00\x85U\x01b\x87Rq\x07(K\x01K\x02M\x00\x0c\x86"
    old += b"cnumpy\ndtype\nq\x08U\x02u1"
    old += b"K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T\x00\x18\x00\x00"
    return [pickle.dumps(batch, protocol=4), old + pixels.tobytes() + b"tbu."]


def tar_seeds(folder: Path) -> list[bytes]:
    found = []
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz", format=form) as archive:
            for name in ("set/one.bin", "set/" + "x" * 150, "set/two.bin"):
                info = tarfile.TarInfo(name)
                info.size = 700
                archive.addfile(info, io.BytesIO(bytes(700)))
        found.append(buffer.getvalue())
    return found


def unpack_and_look(folder: Path) -> None:
    """Unpack, and make sure that nothing was written anywhere else."""
    try:
        unpack(folder / "a.tar.gz", ("set/one.bin", "set/two.bin"), folder / "out")
    finally:
        if outside := {path.name for path in folder.iterdir()} - {"a.tar.gz", "out"}:
            raise AssertionError(f"written outside: {outside}")


def picture_seeds(folder: Path) -> list[bytes]:
    rng = np.random.default_rng(1)
    picture = Image.fromarray(rng.integers(0, 256, (20, 24, 3), dtype=np.uint8))
    exif = picture.getexif()
    exif[0x0112], exif[0x010F] = 6, "a camera"
    found = []
    kinds = ["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM", "TGA", "DDS", "PCX", "SGI", "QOI"]
    kinds += ["JPEG2000", "IM", "MSP", "XBM", "SPIDER"] + ["AVIF"] * features.check("avif")
    for kind in kinds:
        buffer = io.BytesIO()
        shown = {"MSP": "1", "XBM": "1", "SPIDER": "F"}.get(kind, "RGB")
        try:
            picture.convert(shown).save(buffer, kind, **({"exif": exif} if kind in EXIF else {}))
        except (OSError, KeyError, ValueError):  # this Pillow cannot write it
            continue
        found.append(buffer.getvalue())
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", progressive=True)
    found.append(buffer.getvalue())
    buffer = io.BytesIO()
    picture.save(buffer, "TIFF", compression="tiff_lzw")
    return [*found, buffer.getvalue(), tiled_tiff(32, 48)]


EXIF = ("PNG", "JPEG", "TIFF", "WEBP", "AVIF")


def read_picture(folder: Path) -> None:
    with without_pillow_warnings():
        seen(folder / "a.png", 8)


def mnist_seeds(folder: Path) -> list[bytes]:
    images, labels = idx_files()
    return [images, gzip.compress(images), labels]


def idx_files() -> tuple[bytes, bytes]:
    """Three images and their labels, as MNIST stores them."""
    header = bytes([0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 28, 0, 0, 0, 28])
    return header + bytes(3 * 28 * 28), bytes([0, 0, 8, 1, 0, 0, 0, 3, 1, 4, 9])


def arrays_seeds(folder: Path) -> list[bytes]:
    images, labels = np.arange(6 * 192, dtype=np.uint8).reshape(6, 8, 8, 3), np.array([0, 1, 0, 1, 0, 1])
    np.savez(folder / "a.npz", x=images, y=labels)
    np.savez_compressed(
        folder / "b.npz", x_train=images / 255, y_train=labels.astype(str), classes=["0", "1"]
    )
    return [(folder / name).read_bytes() for name in ("a.npz", "b.npz")]


def table_seeds(folder: Path) -> list[bytes]:
    rows = "".join(f"p/{i}.png,{'ab'[i % 2]}\n" for i in range(6))
    return [rows.encode(), f"id,label\n{rows}".replace(",", "\t").encode("utf-8-sig")]


def make_listed(folder: Path) -> None:
    (folder / "p").mkdir(exist_ok=True)
    for i in range(6):
        Image.new("RGB", (8, 8), (40 * i, 0, 0)).save(folder / "p" / f"{i}.png")


def make_mnist(folder: Path) -> None:
    images, labels = idx_files()
    for part in ("train", "t10k"):
        (folder / f"{part}-images-idx3-ubyte").write_bytes(images)
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(labels)


READERS = {
    "cifar": Reader(
        "data_batch_3.bin",
        lambda folder: [bytes([3]) + bytes(3072) + bytes([1]) + bytes(3072)],
        damaged,
        lambda folder: cifar.load_cifar("cifar10", folder),
        make_cifar,
    ),
    "pickle": Reader(
        "data_batch_3",
        lambda folder: pickles(),
        structure.damaged_pickle,
        lambda folder: cifar.load_cifar("cifar10", folder),
        make_pickles,
        500 * MEGABYTE,
    ),
    "mnist": Reader(
        "train-images-idx3-ubyte",
        mnist_seeds,
        damaged,
        lambda folder: mnist.load_mnist("mnist", folder),
        make_mnist,
        1500 * MEGABYTE,
    ),
    "arrays": Reader(
        "a.npz",
        arrays_seeds,
        structure.damaged_zip,
        lambda folder: load_dataset("arrays", folder / "a.npz"),
    ),
    "table": Reader(
        "t.csv",
        table_seeds,
        damaged,
        lambda folder: load_dataset("folder", folder, 8, labels=folder / "t.csv"),
        make_listed,
    ),
    "archive": Reader("a.tar.gz", tar_seeds, structure.damaged_tar, unpack_and_look),
    "npz": Reader("a.npz", npz_seeds, structure.damaged_zip, lambda folder: read_npz(folder / "a.npz")),
    "official": Reader(
        "a.npz", official_seeds, structure.damaged_zip, lambda folder: read_weights(folder, "a.npz")
    ),
    "safetensors": Reader(
        "a.safetensors",
        safetensors_seeds,
        structure.damaged_safetensors,
        lambda folder: read_weights(folder, "a.safetensors"),
    ),
    "checkpoint": Reader(
        "a.npz", checkpoint_seeds, structure.damaged_zip, lambda folder: load_checkpoint(folder / "a.npz")
    ),
    "run": Reader(
        "config.json",
        lambda folder: [make_run(folder), (folder / "config.json").read_bytes()][1:],
        structure.damaged_json,
        read_run,
        make_run,
    ),
    "metrics": Reader(
        "metrics.jsonl", make_metrics, structure.damaged_lines, lambda folder: RunFolder(folder).metrics()
    ),
    "description": Reader(
        "model/config.json",
        hugging_face_seeds("config.json"),
        structure.damaged_json,
        read_hugging_face,
        make_hugging_face,
    ),
    "preprocessing": Reader(
        "model/preprocessor_config.json",
        hugging_face_seeds("preprocessor_config.json"),
        structure.damaged_json,
        read_hugging_face,
        make_hugging_face,
    ),
    "index": Reader(
        "model/model.safetensors.index.json",
        index_seeds,
        structure.damaged_json,
        read_hugging_face,
        make_index,
    ),
    "clip": words_reader("model/config.json", structure.damaged_json),
    "vocabulary": words_reader("model/vocab.json", structure.damaged_json),
    "merges": words_reader("model/merges.txt", damaged),
    "tokenizer": words_reader("whole/model/tokenizer.json", structure.damaged_json),
    "image": Reader("a.png", picture_seeds, damaged, read_picture, memory=2500 * MEGABYTE),
}
