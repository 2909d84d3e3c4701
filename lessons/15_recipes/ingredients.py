"""This lesson's study: what each ingredient of a recipe is worth, alone and beside the others, on CIFAR-10.

    python -m lessons.15_recipes.ingredients --minutes 30

It may be stopped at any moment: the same command continues it. Two runs of each variant take an hour on two
fast cores (small), some hours (medium), or a GPU (large). figures/draw.py then draws what was found.
"""

import argparse
import math
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tinyvit.support.shell.ending import ending
from tinyvit.training.studies.carry_out import carry_out
from tinyvit.training.studies.paper import COMMON, SIZES, USUAL, Chosen, Study, Variant
from tinyvit.training.studies.plan import Plan
from tinyvit.training.studies.results import rows_of, write_results

# A run of so many updates: two passes over CIFAR-10, fifteen, or a hundred.
_LENGTH: Mapping[str, Chosen] = {
    "small": {"steps": 1_500, "warmup_steps": 150},
    "medium": {"steps": 12_000, "warmup_steps": 800},
    "large": {"steps": USUAL["large"]["steps"], "warmup_steps": USUAL["large"]["warmup_steps"]},
}
_ON_A_CPU: Chosen = {"model": "micro/4", "batch_size": 64, "lr": 2e-3}
# Averages of the weights that reach back over a few percent of a run.
_EMA = {"small": 0.99, "medium": 0.998, "large": 0.9995}

# What lets a model learn faster, and what lets it learn for longer without learning by heart.
_SOONER: Mapping[str, Chosen] = {
    "mimetic": {"init": "mimetic"},
    "whiten": {"whiten": True},
    "mean": {"pool": "mean"},
    "muon": {"optimizer": "muon"},
    "ema": {},  # set for each size
}
_LONGER: Mapping[str, Chosen] = {
    "crops": {"crop_padding": 4},
    "smoothing": {"smoothing": 0.1},
    "drop-path": {"drop_path": 0.1},
    "mixing": {"mixup": 0.8, "cutmix": 1.0},
    "randaugment": {"augment": "randaugment"},
    "erasing": {"erase": 0.25},
}


def ingredients(size):
    """The settings of each ingredient by its name, those of the full recipe first: dictionaries of both.

    In a few passes, the full recipe has only what lets a model learn faster.
    """
    everything = {**_SOONER, "ema": {"ema": _EMA[size]}, **_LONGER}
    names = everything if size == "large" else _SOONER
    return everything, {name: everything[name] for name in names}


def variants(size, dataset):
    """The plain and the full recipe; each with one ingredient more or, if it has it, less."""
    everything, full = ingredients(size)
    found = [Variant("plain", {}), Variant("full", mixed(full))]
    for name, chosen in everything.items():
        without = {other: its for other, its in full.items() if other != name}
        beside = mixed(without if name in full else full | {name: chosen})
        found += [Variant(f"plain-and-{name}", chosen), Variant(toggled(name, full), beside)]
    return tuple(found)


def comparisons(size):
    """Each ingredient beside both recipes: (name, beside, the variant that has it, the one without)."""
    everything, full = ingredients(size)
    for name in everything:
        yield name, "plain recipe", f"plain-and-{name}", "plain"
        pair = "full", toggled(name, full)
        yield name, "full recipe", *(pair if name in full else pair[::-1])


def mixed(chosen):
    """The settings of several ingredients together."""
    return {name: value for settings in chosen.values() for name, value in settings.items()}


def toggled(name, full):
    """The name of the full recipe without an ingredient or, if it has not got it, with it."""
    return f"full-{'without' if name in full else 'and'}-{name}"


def usual(size):
    """The settings of the plain recipe."""
    large = {name: USUAL["large"][name] for name in _ON_A_CPU}
    return COMMON | (large if size == "large" else _ON_A_CPU) | _LENGTH[size]


STUDY = Study(
    "What is each ingredient of a recipe worth, alone and beside the others?",
    "Not in the paper, whose recipe is the plain one. In a few passes, what makes a task harder costs "
    "accuracy; it pays in hundreds.",
    variants,
    usual,
)


class Ingredients(Plan):
    """The plan of this study, which has a command of its own."""

    def command(self, seeds):
        """The command that carries out this study."""
        return f"python -m lessons.15_recipes.ingredients --size {self.size} --seeds {seeds} --out {self.out}"


def main(args):
    """Carry out what is missing; returns the exit status."""
    deadline = math.inf if args.minutes is None else time.monotonic() + 60 * args.minutes
    plan = Ingredients("ingredients", STUDY, args.size, "cifar10", args.out)
    plan.claim()
    try:
        return carry_out(plan, args.seeds, {"device": args.device}, deadline)
    finally:
        write_results(plan, args.seeds, rows_of(plan, args.seeds))
        print(f"{args.out / 'table.md'}; python -m lessons.15_recipes.figures.draw {args.out} draws it")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--device", choices=("auto", "cpu", "gpu"), default="auto")
    parser.add_argument("--out", type=Path, default=Path("runs/ingredients"))
    with ending("lessons.15_recipes.ingredients"):
        status = main(parser.parse_args())
    sys.exit(status)
