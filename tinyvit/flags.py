"""Flags that several commands share. Those that are settings follow from the table, training.settings."""

import argparse
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any, TextIO

from tinyvit.backend import Device, select_device
from tinyvit.support.errors import UserError
from tinyvit.support.limits import PATH
from tinyvit.support.shell.command import Rare, path_text, png_path, some_path, typed
from tinyvit.training.settings import LENGTHS, WARMUPS, Group, Row, few_settings, in_groups, table

# what every command accepts as weights, in its help
WEIGHTS = "a file of weights, the folder or name of a Hugging Face model, or a known name such as Ti_16-384"
READING = ("resolution", "position_resize", "heads")  # the settings of how given weights are read
SIZE_OF_MODEL = {"image_size": "the size that the model expects; for arrays, the size that they have"}
_WITHOUT_FLAG = {"weights", "ranks"}
_NOT_SETTINGS = ("out", "resume", "config", "data_url", "strict", "show_augmentation", "dry_run", "quiet")
# The settings that --help shows; --help-all has all.
_COMMON: tuple[str, ...] = ("dataset", "data_dir", "image_size", "validation", "model", "recipe", "epochs")
_COMMON += ("batch_size", "lr", "seed", "device", "resolution")


def add_flags(
    parser: argparse._ActionsContainer, *names: str, usual: Mapping[str, Any] | None = None
) -> None:
    """A flag for each of these settings; usual has the defaults, as values or in words, of this command.

    If a flag is not given, the result has no such setting, or None.
    """
    alternatives: dict[tuple[str, ...], Any] = defaultdict(parser.add_mutually_exclusive_group)
    for name in names:
        row = table()[name]
        text = _with_default(row, (usual or {}).get(name))
        what: dict[str, Any] = {"help": text if name in _COMMON else Rare(text)}
        if bool in row.kinds:
            what |= {"action": argparse.BooleanOptionalAction}
        elif row.rule.choices:
            what |= {"choices": row.rule.choices}
        else:
            parse = path_text if row.rule is PATH else typed(row.rule, *row.kinds)
            what |= {"type": parse, "metavar": row.metavar}
        pair = next((pair for pair in (LENGTHS, WARMUPS) if name in pair), None)
        group = alternatives[pair] if pair else parser
        group.add_argument(f"--{name.replace('_', '-')}", **what)


def _with_default(row: Row, usual: Any) -> str:
    """The help of a setting, which ends with its default: usual, words of the table, or the value."""
    text, in_words, _ = row.help.partition(" (default: ")
    if usual is None and in_words:
        return row.help
    default = row.default if usual is None else usual
    if isinstance(default, bool):
        default = "yes" if default else "no"
    return f"{text} (default: {default:g})" if isinstance(default, float) else f"{text} (default: {default})"


def add_training_flags(
    parser: argparse.ArgumentParser,
    *groups: Group,
    usual: Mapping[str, Any],
    without: Collection[str] = (),
) -> None:
    """The flags of a command that trains: settings of these groups, under their headings, and others."""
    takes: list[str] = []
    for group in groups:
        flags = parser.add_argument_group(group.value)
        names = READING if group is Group.WEIGHTS else in_groups(group)
        own = [name for name in names if name not in {*without, *_WITHOUT_FLAG}]
        add_flags(flags, *own, usual=usual)
        takes += own
        if group is Group.DATA:
            add_download_flags(flags)
        elif group is Group.AUGMENTATION:
            flags.add_argument(
                "--show-augmentation",
                type=png_path,
                metavar="FILE.png",
                help=Rare("do not train: draw some training images as the model would be shown them"),
            )
        elif group is Group.RUN:
            _add_run_flags(flags)
    parser.set_defaults(takes=takes)


def _add_run_flags(run: argparse._ActionsContainer) -> None:
    """The folder of the run, and the run to continue or repeat."""
    run.add_argument(
        "--out",
        type=some_path,
        metavar="RUN",
        help="run folder to write (default: runs/DATASET-N, with the next free number N)",
    )
    run.add_argument(
        "--resume",
        type=some_path,
        nargs="?",
        const=True,
        metavar="RUN",
        help="continue the run RUN or, if RUN is omitted, the run given with --out or the latest in runs/; "
        "with --epochs or --steps, the run is extended; flags such as --lr, --mixup or --patience hold from "
        "there on. A run is saved after each evaluation, once a minute in between, and when Ctrl-C stops it",
    )
    run.add_argument(
        "--config",
        type=some_path,
        metavar="FILE",
        help="repeat a run from its config.json, or take some settings from a JSON object; other flags take "
        'precedence. An object with two settings is {"lr": 0.002, "flip": true}',
    )
    run.add_argument(
        "--dry-run",
        action="store_true",
        help="show all settings, and where each comes from, instead of training",
    )
    run.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")


def settings_and_others(args: argparse.Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings that were given, by flags or else in a file, and the other arguments of session.train."""
    chosen = vars(args)
    others, takes = {name: chosen.pop(name, None) for name in _NOT_SETTINGS}, chosen.pop("takes")
    if others["config"] and (few := few_settings(others["config"])) is not None:
        if foreign := sorted(few.keys() - {*takes}):
            why = f"has {foreign[0]}, which is not a setting of this command: take it out."
            raise UserError(f"{others['config']} {why}")
        replaced = {name for pair in (LENGTHS, WARMUPS) if chosen.keys() & {*pair} for name in pair}
        from_file = few.keys() - chosen.keys() - replaced
        chosen |= {name: few[name] for name in from_file}
        others |= {"config": None, "from_file": from_file}
    return chosen, others


def add_download_flags(data: argparse._ActionsContainer) -> None:
    """--data-url and --strict."""
    data.add_argument(
        "--data-url",
        metavar="URL",
        help=Rare(
            "address to download the CIFAR archive from, or of a folder with the files of MNIST, instead of "
            "several that are tried in turn"
        ),
    )
    data.add_argument(
        "--strict",
        action="store_true",
        default=None,
        help=Rare("refuse a folder with damaged files, instead of leaving out a few of them"),
    )


def chosen_device(args: argparse.Namespace, default: str = "auto", file: TextIO | None = None) -> Device:
    """The device requested with --device; if it is not available, one printed line says why."""
    device = select_device(args.device or default)
    if device.note:
        print(device.note, file=file)
    return device


def add_checkpoint_flag(parser: argparse.ArgumentParser) -> None:
    """--checkpoint."""
    parser.add_argument(
        "--checkpoint",
        choices=("best", "last"),
        default="best",
        help="which checkpoint of the run to use (default: best)",
    )


def add_data_of_run_flag(parser: argparse.ArgumentParser) -> None:
    """--data-dir, for a command that reads the data of a run again."""
    parser.add_argument(
        "--data-dir",
        type=some_path,
        metavar="DIR",
        help="folder with the data of the run (default: the one it was trained on)",
    )


def add_json_flag(parser: argparse._ActionsContainer, what: str) -> None:
    """--json, with which a command prints `what` and nothing else to standard output."""
    parser.add_argument("--json", action="store_true", help=f"print {what}")


def add_weights_argument(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """WEIGHTS."""
    parser.add_argument(
        "weights",
        type=path_text,
        metavar="WEIGHTS",
        nargs=nargs,
        help=f"a run folder, {WEIGHTS}",
    )
