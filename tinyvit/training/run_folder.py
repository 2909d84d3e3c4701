"""The folder of one training run: everything needed to repeat it, resume it, judge it and use it.

config.json     settings and model, and the versions they were run with
metrics.jsonl   one JSON object for each epoch
last.npz        checkpoint to resume from          best.npz   checkpoint of the best epoch
curves.png      loss and accuracy over the epochs
"""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

import tinyvit
from tinyvit.errors import UserError
from tinyvit.files import write_atomically
from tinyvit.model import ViTConfig
from tinyvit.training.curves import draw_curves
from tinyvit.training.settings import Settings


class RunFolder:
    """Paths and small files of a run."""

    def __init__(self, path: Path):
        self.path = Path(path)
        self.config_path = self.path / "config.json"
        self.metrics_path = self.path / "metrics.jsonl"
        self.last_path = self.path / "last.npz"
        self.best_path = self.path / "best.npz"
        self.curves_path = self.path / "curves.png"

    def create(self, settings: Settings, model: ViTConfig, classes: Sequence[str], parameters: int) -> None:
        """Make the folder and write its config.json. Raises UserError if a run is there already."""
        if self.config_path.exists():
            raise UserError(
                f"{self.path} holds a run already: add --resume to go on with it, or give a new run "
                "another name "
                "with --out."
            )
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"cannot make the run folder {self.path}: {error.strerror}. Choose another place with --out."
            ) from error
        versions = {
            "tinyvit": tinyvit.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        }
        record = {
            "settings": settings.as_dict(),
            "model": model.as_dict(),
            "parameters": parameters,
            "classes": list(classes),
            "versions": versions,
        }
        text = json.dumps(record, indent=2) + "\n"
        write_atomically(self.config_path, lambda file: file.write(text.encode()))

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """An existing run. Raises UserError if there is none."""
        run = cls(path)
        if not run.config_path.is_file():
            raise UserError(
                f"{path} is no run folder (it has no config.json): expected one that tinyvit.train made."
            )
        return run

    def settings(self) -> Settings:
        """The settings the run was started with."""
        return Settings.from_dict(self._config("settings"))

    def classes(self) -> list[str]:
        """Names of the classes, in the order of the logits."""
        return self._config("classes")

    def _config(self, key: str) -> Any:
        try:
            return json.loads(self.config_path.read_text("utf-8"))[key]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(
                f"{self.config_path} is damaged ({error}): restore it, or start a new run."
            ) from error

    def metrics(self) -> list[dict[str, Any]]:
        """The records so far, one an epoch; a last line cut short by a crash is left out."""
        if not self.metrics_path.exists():
            return []
        records = []
        for line in self.metrics_path.read_text("utf-8").splitlines():
            try:
                records.append(json.loads(line))
            except json.JSONDecodeError:
                break
        return records

    def write_metrics(self, records: list[dict[str, Any]], title: str) -> None:
        """Write all records and draw the curves anew."""
        text = "".join(json.dumps(record) + "\n" for record in records)
        write_atomically(self.metrics_path, lambda file: file.write(text.encode()))
        draw_curves(records, self.curves_path, title)


def next_run_path(dataset: str, root: Path = Path("runs")) -> Path:
    """The first of runs/DATASET-1, runs/DATASET-2, ... that does not exist."""
    return next(path for n in count(1) if not (path := root / f"{dataset}-{n}").exists())


def latest_run(root: Path = Path("runs")) -> Path:
    """The run folder whose checkpoint was written last. Raises UserError if there is none."""
    runs = [path.parent for path in root.glob("*/config.json")]
    if not runs:
        raise UserError(f"there is no run in {root}/ to resume: say which with --resume RUN, or start one.")
    return max(runs, key=lambda run: max(path.stat().st_mtime for path in run.iterdir()))
