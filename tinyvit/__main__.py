"""`python -m tinyvit COMMAND`, or `tinyvit COMMAND` where it is installed: run a command, or list them all.

A command is a module or package here whose docstring begins with the line that runs it and says, after a
colon, what it does. That sentence is also the description in its --help. A new command is therefore listed
here automatically, and no command has to be imported to make the list.
"""

import ast
import importlib
import importlib.util
import pkgutil
import sys
from importlib.abc import InspectLoader
from typing import NoReturn

import tinyvit
from tinyvit.support.errors import UserError, did_you_mean
from tinyvit.support.shell.command import run_command, summary
from tinyvit.support.shell.ending import ending

_USAGE = """\
usage: {call} COMMAND [FLAGS]
       {call} --help | --version

Vision Transformers, trained, used and examined from the command line.

commands:
{commands}

To get started, train a small model on built-in pictures. This needs no download
and takes one to four minutes:

  {call} train

{call} COMMAND --help explains a command and all its flags.
Any command can also be run as python -m tinyvit.COMMAND.
"""


def main() -> NoReturn:
    """Run the command that the first argument names; without arguments, list the commands."""
    words = sys.argv[1:]
    with ending("tinyvit"):
        if words in ([], ["-h"], ["--help"], ["help"]):
            print(_overview(), end="")
        elif words == ["--version"]:
            print(f"tinyvit {tinyvit.__version__}")
        else:
            words = [*words[1:], "--help"] if words[0] == "help" else words
            module = importlib.import_module(f"tinyvit.{_checked(words[0])}")
            run_command(module.parser(), module.main, words[1:])
    sys.exit(0)


def commands() -> dict[str, str]:
    """All commands in alphabetical order: each name, and a sentence saying what the command does."""
    sentences = {}
    for module in pkgutil.iter_modules(tinyvit.__path__):
        spec = importlib.util.find_spec(f"tinyvit.{module.name}")
        if spec is None or not isinstance(spec.loader, InspectLoader):
            continue
        source = spec.loader.get_source(spec.name)
        docstring = ast.get_docstring(ast.parse(source)) if source else None
        if docstring and docstring.startswith(f"`python -m {spec.name}"):
            sentences[module.name] = summary(docstring)
    return dict(sorted(sentences.items()))


def _overview() -> str:
    listed = commands()
    width = max(map(len, listed))
    rows = "\n".join(f"  {name:{width}}  {sentence}" for name, sentence in listed.items())
    return _USAGE.format(call=_call(), commands=rows)


def _call() -> str:
    """The command that the user typed: the installed one, or through Python."""
    return "python -m tinyvit" if sys.argv[0].endswith("__main__.py") else "tinyvit"


def _checked(word: str) -> str:
    """The word, if it names a command; otherwise a UserError suggests the closest one."""
    listed = commands()
    if word in listed:
        return word
    if word.startswith("-"):
        raise UserError(
            f"expected a command before {word}, as in {_call()} train {word}: one of {', '.join(listed)}."
        )
    hint = did_you_mean(word, listed)
    raise UserError(f"{word} is not a command{hint}, expected one of {', '.join(listed)}.")


if __name__ == "__main__":
    main()
