"""`python -m tinyvit.recipe [NAME]`: list the recipes of tinyvit.train, or show one with its results."""

import argparse
import json
import textwrap

from tinyvit.support.figures import call
from tinyvit.support.shell.command import make_parser, run_command
from tinyvit.training.recipes.named import RECIPES, named_recipe

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
    if args.name:
        show(args.name)
    else:
        list_recipes()


def list_recipes() -> None:
    """Print what each recipe is for, and what it has reached."""
    width = max(map(len, RECIPES))
    for name in RECIPES:
        recipe = named_recipe(name)
        print(f"  {name:<{width}}  {recipe.purpose}")
        for line in recipe.results():
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
    for line in recipe.results():
        print(line)
    print(f"{call('train')} --recipe {recipe.name}")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("recipe", __doc__, _EPILOG)
    p.add_argument("name", nargs="?", metavar="NAME", help=f"one of {', '.join(RECIPES)}")
    return p


if __name__ == "__main__":
    run_command(parser(), main)
