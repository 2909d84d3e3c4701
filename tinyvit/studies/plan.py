"""The runs of a study in the order in which they are made, and what is asked of each."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tinyvit.data import class_names
from tinyvit.errors import UserError
from tinyvit.files.atomic import write_atomically
from tinyvit.model.cost import multiply_adds
from tinyvit.studies.study import CLASSES, IMAGE_SIDE, First, Study, Variant
from tinyvit.training.settings import Settings
from tinyvit.training.stages import Stages
from tinyvit.training.starting_point import fresh_config


@dataclass(frozen=True)
class Job:
    """A run: its name, its settings, and the run it starts from."""

    name: str
    chosen: dict[str, Any]
    first: str | None = None

    def settings(self) -> Settings:
        """The settings as far as the study determines them."""
        return Settings(**{"model": "", "weights": self.first, **self.chosen})

    @property
    def images(self) -> int:
        """How many images it looks at, counting each time."""
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
                    yield self.first_job(variant.first, seed)
                yield self.job(variant, seed)

    def count(self, seeds: int) -> int:
        """How many runs there are in all."""
        return len(list(self.jobs(seeds)))

    def known_jobs(self, seeds: int) -> list[Job]:
        """The runs that are known before any is finished."""
        return list(self.jobs(seeds))

    def total(self, figure: Callable[[Job], int], seeds: int) -> int:
        """The sum of a figure over all runs."""
        return sum(map(figure, self.known_jobs(seeds)))

    def job(self, variant: Variant, seed: int) -> Job:
        """The run of a variant with a seed."""
        chosen = self._common(seed) | dict(variant.settings)
        if variant.first is None:
            return Job(_run_name(variant.name, seed), chosen)
        first = self.first_job(variant.first, seed)
        return Job(_run_name(variant.name, seed), chosen, first.name)

    def first_job(self, first: First, seed: int) -> Job:
        """The run that variants with this seed start from."""
        return Job(_run_name(first.name, seed), self._common(seed) | dict(first.settings))

    def _common(self, seed: int) -> dict[str, Any]:
        return {"dataset": self.dataset, "seed": seed} | dict(self.study.usual(self.size))

    def folder(self, name: str) -> Path:
        """The run folder of the run of that name."""
        return self.out / "runs" / name

    def work(self, job: Job) -> int:
        """The multiply-adds of all forward passes of a run: the time it takes is about proportional to it."""
        only = job.chosen.get("only")
        classes = len(class_names(only)) if only else len(CLASSES[self.dataset])
        settings = job.settings()
        config = fresh_config(settings, IMAGE_SIDE, classes)
        return round(job.images * Stages(settings, config).cost_left(0) * multiply_adds(config))

    def command(self, seeds: int) -> str:
        """The command that carries out this study."""
        return (
            f"python -m tinyvit.study {self.name} --dataset {self.dataset} --size {self.size} --seeds {seeds}"
        )

    def claim(self, where: Mapping[str, Any]) -> None:
        """Write down in the folder what is studied there; UserError if it is something else already.

        where holds the device and the threads. In a study that goes by the clock, they are a part of it.
        """
        mine = self._description(where)
        path = self.out / "study.json"
        try:
            theirs = json.loads(path.read_text("utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            self._make_folder()
            text = json.dumps(mine, indent=2) + "\n"
            write_atomically(path, lambda file: file.write(text.encode()))
            return
        except ValueError as error:
            raise UserError(f"{path} is damaged ({error}): restore it, or choose another --out.") from error
        for key in [key for key in mine if key != "runs"]:
            if not isinstance(theirs, dict) or theirs.get(key) != mine[key]:
                was = theirs.get(key) if isinstance(theirs, dict) else theirs
                raise UserError(
                    f"{self.out} was begun with {key} {was}, not {mine[key]}: give the same one, or "
                    "choose another folder with --out."
                )
        if theirs != mine:
            raise UserError(
                f"{self.out} was begun by a version of tinyvit in which this study had other settings: "
                "finish it with that version, or choose another folder with --out."
            )

    def _make_folder(self) -> None:
        try:
            self.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"cannot create the folder {self.out}: {error.strerror}. Choose another one with --out."
            ) from error

    def _description(self, where: Mapping[str, Any]) -> dict[str, Any]:
        what: dict[str, Any] = {"study": self.name, "dataset": self.dataset, "size": self.size}
        if self.study.rounds > 1:
            what |= {"device": where["device"], "threads": where.get("threads", "by default")}
        what |= {"runs": [vars(job) for job in self.known_jobs(1)]}
        return json.loads(json.dumps(what))  # as it is read back


def _run_name(name: str, seed: int) -> str:
    return f"{name}-{seed}"
