"""The bits of twenty runs and the words of thirty commands, compared before and after a change of structure.

    python -m tests.baseline write before.json        in the old tree
    python -m tests.baseline check before.json        in the new one: exit status 1, and what differs

Compared are the metrics (times apart) and a digest of every array that a run saves; and what commands print
(times and paths apart).
"""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.tiny_runs import REPOSITORY, make_photos, metrics, numbers

PHOTOS = "--dataset folder --data-dir photos --batch-size 8 --threads 1 --device cpu --crop-padding 1"
SMALL = f"{PHOTOS} --image-size 8 --model nano/4"
SHAPES = "--steps 6 --batch-size 20 --device cpu --threads 2"
RUNS = {  # the folder of a run: the command that makes it
    "plain": f"train {SMALL} --epochs 2",
    "threads": f"train {SHAPES}",
    "shapes": f"train {SHAPES} --threads 1 --model milli/8 --validation 30 --ema 0.9",
    "sgd": f"train {SMALL} --epochs 2 --optimizer sgd --decay linear",
    "adam": f"train {SMALL} --epochs 2 --optimizer adam --smoothing 0.1 --clip 0.5",
    "muon": f"train {SMALL} --epochs 2 --optimizer muon --ema 0.99",
    "mixed": f"train {SMALL} --epochs 2 --mixup 0.8 --cutmix 1 --erase 0.25 --flip --repeats 2",
    "augmented": f"train {SMALL} --epochs 2 --augment randaugment",
    "noise": f"train {SMALL} --epochs 2 --dropout 0.1 --drop-path 0.1",
    "mean": f"train {SMALL} --epochs 2 --pool mean --position sincos --init mimetic --whiten",
    "relative": f"train {SMALL} --epochs 2 --position relative",
    "parts": f"train {SMALL} --epochs 2 --accumulate 2 --validation 6",
    "resnet": f"train {SMALL} --epochs 1 --model resnet-nano --image-size 32",
    "hybrid": f"train {SMALL} --epochs 1 --model R5+nano/4 --image-size 32",
    "masked": f"pretrain {SMALL} --epochs 2",
    "tuned": f"finetune plain {PHOTOS} --resolution 12 --epochs 2",
    "unmasked": f"finetune masked {PHOTOS} --epochs 2",
}
COMMANDS = [
    *(f"{name} --help" for name in ("train", "finetune", "pretrain", "evaluate", "predict", "fewshot")),
    *(f"{name} --help" for name in ("visualize", "info", "export", "compare", "study", "recipe", "bench")),
    "info ViT-B/16",
    "info R50+B/16",
    "info plain",
    "recipe",
    "evaluate plain",
    "evaluate plain --json --flip",
    "predict plain photos/red/0.png photos/blue/1.png --json",
    "predict plain nowhere.png",
    "fewshot plain --shots 1 5 --device cpu",
    "compare plain sgd",
    "export plain out.npz",
    "export plain folder",
    "visualize plain --out look.png",
    "train --model nano/99",
    "train --resume nowhere",
    "train --recipe nothing",
    "evaluate photos",
    "finetune nothing",
    "gradcheck --only linear",
]


def run(folder, words):
    """Exit status, standard output and standard error of a command, run in a folder."""
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "COLUMNS": "100", "OPENBLAS_NUM_THREADS": "2"}
    name, *rest = words.split()
    command = [sys.executable, "-m", f"tinyvit.{name}", *rest]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def left_behind(run):
    """The metrics of a run and a digest of what each of its checkpoints holds."""
    found = {"metrics": metrics(run)}
    for name in ("last.npz", "best.npz"):
        digest = hashlib.sha256()
        for key, array in sorted(numbers(run / name).items()):
            digest.update(f"{key} {array.dtype} {array.shape}".encode() + array.tobytes())
        found[name] = digest.hexdigest()[:16]
    return found


def killed_and_resumed(folder):
    """A run killed after its first epoch and resumed."""
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    words = f"train {SMALL} --epochs 30 --out killed".split()
    process = subprocess.Popen(
        [sys.executable, "-m", f"tinyvit.{words[0]}", *words[1:]],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    while not (folder / "killed/last.npz").exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    run(folder, "train --resume killed")
    return left_behind(folder / "killed")


def from_python():
    """The results of Model.fit and ViTClassifier for a few images, as hashes."""
    import tinyvit

    rng = np.random.default_rng(0)
    images, labels = rng.integers(0, 256, (40, 16, 16, 3), np.uint8), np.arange(40) % 3
    model = tinyvit.preset("nano/4", 16, ["a", "b", "c"], threads=1).fit(
        images, labels, epochs=2, batch_size=8
    )
    classifier = tinyvit.ViTClassifier(patch_size=4, epochs=50, threads=1).fit(images, labels)
    return {
        "fit": hashlib.sha256(model.params.flat.tobytes()).hexdigest()[:16],
        "logits": hashlib.sha256(model.logits(images).tobytes()).hexdigest()[:16],
        "classifier": hashlib.sha256(classifier.predict_proba(images).tobytes()).hexdigest()[:16],
    }


def collect():
    """All of it, by name."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "photos").mkdir()
        make_photos(folder / "photos")
        for out, words in RUNS.items():
            status, _, err = run(folder, f"{words} --out {out}")
            found[out] = left_behind(folder / out) if status == 0 else err
        found["killed and resumed"] = killed_and_resumed(folder)
        for words in COMMANDS:
            shown = [_lasting(text, name) for text in run(folder, words)[1:]]
            found[words] = {"out": shown[0], "err": shown[1]}
    return found | {"python": from_python()}


def _lasting(text, folder):
    """The text without times, speeds and paths."""
    text = text.replace(str(REPOSITORY), "REPOSITORY").replace(folder, "FOLDER")
    return re.sub(r"[\d,.]+ (s|ms|img/s|images/s|seconds)\b|\d+:\d\d", "TIME", text)


def main(what, file):
    """Write or check; returns the exit status."""
    found = json.loads(json.dumps(collect()))
    if what == "write":
        Path(file).write_text(json.dumps(found, indent=1))
        return 0
    before = json.loads(Path(file).read_text())
    differing = [name for name in before if found.get(name) != before[name]]
    for name in differing:
        print(f"DIFFERS: {name}\n  before: {before[name]!r}\n  now:    {found.get(name)!r}")
    print(f"{len(before) - len(differing)} of {len(before)} are the same")
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
