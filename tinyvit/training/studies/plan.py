"""The runs of a study in the order in which they are made, and what is asked of each."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tinyvit.data import class_names
from tinyvit.model.cost import multiply_adds
from tinyvit.support.errors import UserError
from tinyvit.support.files.atomic import write_atomically
from tinyvit.training.learning import Stages
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.settings import Settings
from tinyvit.training.starting_point import fresh_config
from tinyvit.training.studies.paper import CLASSES, IMAGE_SIDE, First, Study, Variant

DIVERGED = "diverged.txt"  # in the folder of a run that did


@dataclass(frozen=True)
class Job:
    """A run: its name, its settings, and the run it starts from."""

    name: str
    chosen: dict[str, Any]
    first: str | None = None

    @property
    def images(self) -> int:
        """Number of images that it looks at, counting each time."""
        return self.chosen["steps"] * self.chosen["batch_size"]


@dataclass(frozen=True)
class Plan:
    """A study of a certain size on a data set, in a folder of its own."""

    name: str
    study: Study
    size: str
    dataset: str
    out: Path

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        return self.study.variants(self.size, self.dataset)

    def jobs(self, seeds: int) -> Iterator[Job]:
        """All runs: every variant with seed 0, then every variant with seed 1, so that a table of what is
        finished compares like with like; a run that others start from comes before the first of them."""
        for seed in range(seeds):
            made = set()
            for variant in self.variants:
                if variant.first and variant.first.name not in made:
                    made.add(variant.first.name)
                    yield self._job(variant.first, seed)
                yield self.job(variant, seed)

    def job(self, variant: Variant, seed: int) -> Job:
        """The run of a variant with a seed."""
        first = self._job(variant.first, seed).name if variant.first else None
        return self._job(variant, seed, first)

    def _job(self, tried: Variant | First, seed: int, first: str | None = None) -> Job:
        common = {"dataset": self.dataset, "seed": seed} | self.study.usual(self.size)
        return Job(f"{tried.name}-{seed}", common | tried.settings, first)

    def folder(self, name: str) -> Path:
        """The run folder of the run of that name."""
        return self.out / "runs" / name

    def is_finished(self, job: Job) -> bool:
        """True if a run needs no more work: it was evaluated after its last step, or it diverged."""
        folder = self.folder(job.name)
        if (folder / DIVERGED).is_file():
            return True
        if not (folder / "config.json").is_file():
            return False
        run = RunFolder.open(folder)
        records = run.metrics()
        return bool(records) and records[-1].get("step", 0) >= run.settings().steps

    def work(self, job: Job) -> int:
        """The multiply-adds of all forward passes of a run: the time it takes is about proportional to it."""
        only = job.chosen.get("only")
        classes = len(class_names(only)) if only else len(CLASSES[self.dataset])
        settings = Settings(**{"model": "", "weights": job.first, **job.chosen})
        config = fresh_config(settings, IMAGE_SIDE, classes)
        return round(job.images * Stages(settings, config).cost_left(0) * multiply_adds(config))

    def command(self, seeds: int) -> str:
        """The command that carries out this study."""
        return (
            f"python -m tinyvit.study {self.name} --dataset {self.dataset} --size {self.size} --seeds {seeds}"
        )

    def claim(self) -> None:
        """Write down in the folder what is studied there; UserError if it is something else already."""
        mine: dict[str, Any] = {"study": self.name, "dataset": self.dataset, "size": self.size}
        text = json.dumps(mine | {"runs": [vars(job) for job in self.jobs(1)]}, indent=2) + "\n"
        path = self.out / "study.json"
        if not path.exists():
            try:
                self.out.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise UserError(
                    f"cannot create the folder {self.out}: {error.strerror}. Choose another one with --out."
                ) from error
            write_atomically(path, lambda file: file.write(text.encode()))
            return
        try:
            theirs = dict(json.loads(path.read_text("utf-8")))
        except (TypeError, ValueError) as error:
            raise UserError(f"{path} is damaged ({error}): restore it, or choose another --out.") from error
        for key, value in mine.items():
            if theirs.get(key) != value:
                raise UserError(
                    f"{self.out} was begun with {key} {theirs.get(key)}, not {value}: give the same one, or "
                    "choose another folder with --out."
                )
        if theirs != json.loads(text):
            raise UserError(
                f"{self.out} was begun by a version of tinyvit in which this study had other settings: "
                "finish it with that version, or choose another folder with --out."
            )
