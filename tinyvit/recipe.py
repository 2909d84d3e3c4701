"""`python -m tinyvit.recipe [NAME]`: list the recipes of tinyvit.train, or show one with its results."""

import argparse
import json
import textwrap

from tinyvit.support.figures import call
from tinyvit.support.shell.command import make_parser, run_command
from tinyvit.training.recipes import ON_CPU, RECIPES, WITH_MACHINES, Recipe, named_recipe
from tinyvit.training.recipes.time_here import time_here
from tinyvit.training.starting_point import fresh_config

_EPILOG = """\
A recipe is a small file of settings that were chosen together, with the runs in which they were measured.
Flags of tinyvit.train take precedence over it. Times in names are those of two Zen 5 cores (cpu-...) and of
an H200 (gpu-...). For the CPU, the time on this machine is calculated from a second of training.

examples:
  python -m tinyvit.recipe
  python -m tinyvit.recipe cpu-8-minutes
  python -m tinyvit.train --recipe cpu-8-minutes
"""


def main(args: argparse.Namespace) -> None:
    """Print the list, or one recipe."""
    if args.name:
        show(args.name)
    else:
        list_recipes()


def list_recipes() -> None:
    """Print what each recipe is for, what it has reached, and how long it takes here."""
    width = max(map(len, RECIPES))
    for name in RECIPES:
        recipe = named_recipe(name)
        print(f"  {name:<{width}}  {recipe.purpose}")
        for line in (*recipe.results(), *on_this_machine(recipe, 0.4)):
            print(f"  {'':<{width}}  {line}")
    print(f"\nTo train with one: {call('train')} --recipe NAME")


def show(name: str) -> None:
    """Print a recipe: what it is for, the settings that it gives, and each run that followed it."""
    recipe = named_recipe(name)
    print(f"{recipe.name}\n{textwrap.fill(recipe.about, 100)}\n")
    width = max(map(len, recipe.given))
    for setting, value in recipe.given.items():
        shown = value if isinstance(value, str) else json.dumps(value)
        print(f"  {setting.replace('_', ' '):<{width}}  {shown}")
    print()
    for run in recipe.reached:
        print(f"  {100 * run.accuracy:.1f}%  {run.dataset}, {run.copy}, seed {run.seed}, {run.date}")
    for line in (*recipe.results(), *on_this_machine(recipe, 1.5)):
        print(line)
    print(f"{call('train')} --recipe {recipe.name}")


def on_this_machine(recipe: Recipe, seconds: float) -> list[str]:
    """A line with the time that a recipe for CPUs takes here, measured for a number of seconds; or none."""
    if recipe.name not in ON_CPU or recipe.settings.dataset != "cifar10":
        return []
    config = fresh_config(recipe.settings, 32, 10)
    return [f"on this machine {time_here(recipe.settings, config, 50_000, 10_000, seconds)}"]


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("recipe", __doc__, _EPILOG)
    p.add_argument("name", nargs="?", metavar="NAME", help=f"one of {WITH_MACHINES}")
    return p


if __name__ == "__main__":
    run_command(parser(), main)
