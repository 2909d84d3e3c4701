"""`python -m tinyvit.recipe [NAME]`: list the recipes of tinyvit.train, or show one with its results."""

import argparse
import json
import statistics
import textwrap
from collections.abc import Iterator

from tinyvit.recipes.named import RECIPES, Reached, Recipe, named_recipe
from tinyvit.shell.command import make_parser, run_command
from tinyvit.shell.figures import call, duration, img_per_second

_EPILOG = """\
A recipe is a small file of settings that were chosen together, with the runs in which they were measured.
Flags of tinyvit.train take precedence over it.

examples:
  python -m tinyvit.recipe
  python -m tinyvit.recipe cpu-8-minutes
  python -m tinyvit.train --recipe cpu-8-minutes
"""


def main(args: argparse.Namespace) -> None:
    """Print the list, or one recipe."""
    if args.name is None:
        list_recipes()
    else:
        show(args.name)


def list_recipes() -> None:
    """Print what each recipe is for, and what it has reached."""
    width = max(map(len, RECIPES))
    for name in RECIPES:
        recipe = named_recipe(name)
        print(f"  {name:<{width}}  {recipe.purpose}")
        for line in reached(recipe):
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
    for line in reached(recipe):
        print(line)
    print(f"{call('train')} --recipe {recipe.name}")


def reached(recipe: Recipe) -> Iterator[str]:
    """A line for the runs on each data set and processor: accuracy, with its spread over seeds, and time."""
    groups: dict[tuple, list[Reached]] = {}
    for run in recipe.reached:
        groups.setdefault((run.dataset, run.copy, run.processor, run.passes), []).append(run)
    for (dataset, copy, processor, _), runs in groups.items():
        values = [100 * run.accuracy for run in runs]
        spread, seeds = "", "one seed"
        if len(runs) > 1:
            spread, seeds = f" ± {statistics.stdev(values):.1f}", f"{len(runs)} seeds"
        time = duration(60 * statistics.mean(run.minutes for run in runs))
        speed = img_per_second(statistics.mean(run.images_per_second for run in runs))
        accuracy = f"{statistics.mean(values):.1f}{spread}% ({dataset}, {copy}, {seeds})"
        yield f"{accuracy} in {time} at {speed} on {processor}"
    if not groups:
        yield "nobody has measured it yet"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("recipe", __doc__, _EPILOG)
    p.add_argument("name", nargs="?", metavar="NAME", help=f"one of {', '.join(RECIPES)}")
    return p


if __name__ == "__main__":
    run_command(parser(), main)
