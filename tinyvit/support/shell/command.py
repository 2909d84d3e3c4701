"""The command line of all commands: how it is parsed, and the types of flags."""

import argparse
import contextlib
import os
import re
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import tinyvit
from tinyvit.support.distributed import one_job
from tinyvit.support.errors import UserError, did_you_mean, meanings
from tinyvit.support.figures import as_argument, call
from tinyvit.support.files import NOT_FREE, is_free
from tinyvit.support.limits import COUNT, PIXELS, POSITIVE, SEED, THREADS, Rule
from tinyvit.support.shell.ending import ending, fail

_CALL = re.compile(r"`python -m tinyvit[^`]*`: ")  # how the docstring of a command begins


def run_command(
    parser: argparse.ArgumentParser,
    main: Callable[[argparse.Namespace], int | None],
    words: Sequence[str] | None = None,
) -> NoReturn:
    """Parse the command line, call main with the result, and exit with the status it returns (None: 0).

    words are the command-line arguments, by default sys.argv[1:]. See `ending` for what happens when main
    fails, and `one_job` for what happens to the other processes of its job.
    """
    flags = [flag for action in parser._actions for flag in action.option_strings]
    with one_job(), ending(parser.prog, flags):
        status = main(parser.parse_args(words)) or 0
    sys.exit(status)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, like all others; flags may be anywhere on the command line."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        for word in sys.argv[1:] if args is None else args:
            if word.startswith("-") and word.endswith("=--"):  # argparse would take it for an empty list
                self.error(f"argument {word.removesuffix('=--')}: expected one argument")
        parsed, unknown = self.parse_known_intermixed_args(args, namespace)
        if unknown:
            words = " ".join(word + self._meant(word, parsed) for word in unknown)
            self.error(f"unrecognized arguments: {words}")
        return parsed

    def _meant(self, word: str, parsed: argparse.Namespace) -> str:
        """A suggestion for an unknown flag, or for a folder; empty if there is none."""
        flags = self._option_string_actions
        if word.startswith("-"):
            flag = word.partition("=")[0]
            if "weights" in meanings(flag) and "--resume" in flags:  # this command trains
                return f" (did you mean {call('finetune')} WEIGHTS?)"
            return did_you_mean(flag, flags)
        if "--data-dir" not in flags or not os.path.isdir(word):
            return ""
        if "--resume" in flags and os.path.exists(os.path.join(word, "config.json")):
            return f" (did you mean --resume {as_argument(word)}?)"
        photos = "--dataset" in flags and not getattr(parsed, "dataset", None)
        return f" (did you mean {'--dataset folder ' * photos}--data-dir {as_argument(word)}?)"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            hint = did_you_mean(str(value), action.choices)
            message = f"invalid choice: {value!r}{hint}, expected one of {', '.join(action.choices)}"
            raise argparse.ArgumentError(action, message)

    def error(self, message: str) -> NoReturn:
        message = message.replace("ignored explicit argument", "takes no value, but was given")
        fail(self.prog, f"{message} (see --help)")


class Rare(str):
    """The help of a flag that is seldom needed: --help leaves it out, and --help-all has it."""


class _Formatter(argparse.HelpFormatter):
    """Begins with a command as one types it; wraps the paragraphs of an epilog, except for indented lines."""

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any = None) -> None:
        module = self._prog
        command = module.removeprefix("tinyvit.")
        self._prog = f"{call(command) if command != module else f'python -m {module}'} [FLAGS]"
        super().add_usage(usage, [action for action in actions if not action.option_strings], [], prefix)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        def fitted(paragraph: str) -> str:
            return paragraph if "\n  " in f"\n{paragraph}" else textwrap.fill(paragraph, width)

        return "\n\n".join(fitted(paragraph) for paragraph in text.rstrip().split("\n\n"))


class _BriefFormatter(_Formatter):
    """Without the rare flags; of the others' help and default, the first clause."""

    def add_argument(self, action: argparse.Action) -> None:
        if not isinstance(action.help, Rare):
            super().add_argument(action)

    def _get_help_string(self, action: argparse.Action) -> str:
        text, _, default = (action.help or "").partition(" (default: ")
        default = re.split("[,;] ", default.removesuffix(")"))[0]
        return re.split("[.:;] ", text)[0] + (f" (default: {default})" if default else "")


class _Help(argparse.Action):
    """--help and --help-all, which are the same for a command without rare flags; const is the formatter."""

    def __init__(self, option_strings: list[str], dest: str, **more: Any):
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, default=argparse.SUPPRESS, **more)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        if any(isinstance(action.help, Rare) for action in parser._actions):
            parser.formatter_class = self.const
        parser.print_help()
        parser.exit()


def make_parser(name: str, description: str | None, epilog: str = "") -> argparse.ArgumentParser:
    """A parser for `python -m tinyvit.NAME`, with the summary of the module's docstring as description."""
    p = _Parser(
        prog=f"tinyvit.{name}",
        description=summary(description),
        epilog=re.sub(r"python -m tinyvit\.(\w+)", lambda found: call(found[1]), epilog),
        formatter_class=_Formatter,
        allow_abbrev=False,
        add_help=False,
    )
    p.add_argument("-h", "--help", action=_Help, const=_BriefFormatter, help="explain the most common flags")
    p.add_argument("--help-all", action=_Help, const=_Formatter, help="explain all flags in full")
    version = f"tinyvit {tinyvit.__version__}"
    p.add_argument("--version", action="version", version=version, help="show the version of tinyvit")
    return p


def summary(docstring: str | None) -> str:
    """The text after "`python -m tinyvit.NAME`: " in the first line of a docstring, as a sentence."""
    line = (docstring or "").strip().partition("\n")[0]
    line = _CALL.sub("", line)
    return line[:1].upper() + line[1:]


# Types for argparse: each turns the text of a flag into a value, or says what was expected.


def typed(rule: Rule, *kinds: type) -> Callable[[str], Any]:
    """Text as a value of the first of these kinds that it can be, which has to follow the rule."""

    def value_of(text: str) -> Any:
        for kind in kinds:
            with contextlib.suppress(ValueError, TypeError):  # NoneType takes no text
                value = kind(text)
                if rule.fits(value):
                    return value
        raise argparse.ArgumentTypeError(f"{text!r} is not {rule.words}")

    return value_of


positive_int, positive_float = typed(COUNT, int), typed(POSITIVE, float)
pixel_count, thread_count, seed = typed(PIXELS, int), typed(THREADS, int), typed(SEED, int)


def path_text(text: str) -> str:
    """A path, as it was given: not an empty one, which Python would take for the current folder."""
    if not text:
        raise argparse.ArgumentTypeError(
            "the path is empty, as if from a shell variable that is not set: give a path, or omit it"
        )
    return text


def some_path(text: str) -> Path:
    """A path that is not empty."""
    return Path(path_text(text))


def png_path(text: str) -> Path:
    """A path that ends in .png, where there is nothing yet or a picture that tinyvit has drawn."""
    if not text.lower().endswith(".png"):
        raise argparse.ArgumentTypeError(f"{text!r} does not end in .png")
    if not is_free(Path(text)):
        raise argparse.ArgumentTypeError(f"{text!r} {NOT_FREE}: choose another name, or move it away")
    return Path(text)


def usual_png(path: Path) -> Path:
    """A path for a picture for which the user has given none; UserError if png_path would refuse it."""
    if not is_free(path):
        raise UserError(f"{path} {NOT_FREE}: choose another name with --out, or move it away.")
    return path
