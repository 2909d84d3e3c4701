"""The exception for mistakes that the user can fix, names that were meant, safe text, ignored warnings."""

import contextlib
import difflib
import re
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Sequence
from threading import Lock

# Control characters, which a terminal obeys, ends of lines, and characters that turn the direction of text.
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_LONGEST_WORD, _LONGEST_LINE = 300, 2000  # characters; a file name has at most 255
_MOST_NAMES = 20  # in a message
_LONG_WORD = re.compile(rf"\S{{{_LONGEST_WORD + 1},}}")


class UserError(ValueError):
    """Something that the user supplied cannot be used.

    The message says what is wrong, what was expected and what to do. Commands print it without a traceback
    and exit with status 2. It is a ValueError, so that programs that use tinyvit as a library need to know no
    exception but Python's own.

    Messages quote names and reasons from files and servers, which may be hostile: see one_line. details are
    further lines, where one is not enough.
    """

    def __init__(self, message: str, *details: str):
        super().__init__("\n".join(map(one_line, (message, *details))))


def one_line(message: str) -> str:
    """The message as one printable line, without the middle of what is too long to be read.

    That is any word of more than 300 characters, and any line of more than 2,000: both their ends are kept,
    since the name of a file is at the end of its path, and what to do at the end of a message.
    """
    line = printable(" ".join(message.splitlines()))
    line = _LONG_WORD.sub(lambda word: _without_middle(word[0], _LONGEST_WORD), line)
    return _without_middle(line, _LONGEST_LINE)


def printable(text: str) -> str:
    """The text on one line, with every character that a terminal would obey written out, such as \\x1b."""
    return _OBEYED.sub(lambda found: repr(found[0])[1:-1], text)


def class_name(text: str) -> str:
    """The name of a class, on one line, with accents as one character each (NFC).

    A Mac may write é as e and an accent, which looks the same but is another string.
    """
    return unicodedata.normalize("NFC", printable(text))


def nearest(name: str, names: Sequence[str]) -> str:
    """The names that a message offers in place of an unknown one: of many, the most similar."""
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    similar = difflib.get_close_matches(name, names, 5, 0.5) or names[:5]
    return f"{', '.join(similar)} and {len(names) - len(similar):,} others"


# Flags, values and commands: their names in other programs.
_ELSEWHERE = {
    "accumulate": "accumulation gradient-accumulation-steps grad-accum-steps",
    "arrays": "numpy npz",
    "augment": "aa auto-augment transform transforms",
    "batch-size": "b batch bs per-device-train-batch-size train-batch-size",
    "bf16": "amp bfloat16 float16 fp16 half mixed",
    "clip": "clip-grad grad-clip gradient-clip max-grad-norm",
    "data-dir": "data data-path path root",
    "device": "accelerator gpu",
    "drop-path": "drop-path-rate stochastic-depth",
    "erase": "random-erasing reprob",
    "evaluate": "eval score test val validate",
    "folder": "image-folder imagefolder photos",
    "gpu": "cuda cuda:0 nvidia",
    "heads": "n-heads num-attention-heads num-heads",
    "image-size": "imgsz img-size input-size size",
    "layers": "depth n-layers num-hidden-layers num-layers",
    "load": "from-pretrained load-model",
    "logits": "call forward",
    "lr": "base-lr eta learning-rate lr0",
    "mlp-width": "intermediate-size mlp-dim mlp-ratio",
    "model": "arch architecture patch patch-size",
    "optimizer": "optim opt",
    "params": "parameters state-dict weights",
    "out": "o output output-dir save-dir",
    "patience": "early-stopping",
    "precision": "amp dtype fp16 bf16 half",
    "predict": "classify infer inference",
    "preset": "create-model build-model",
    "probabilities": "predict-proba softmax",
    "progress": "verbose",
    "randaugment": "ra rand rand-augment",
    "report": "callback callbacks on-epoch on-epoch-end",
    "resume": "checkpoint ckpt resume-from resume-from-checkpoint",
    "smoothing": "label-smoothing",
    "steps": "iterations max-iter max-steps",
    "to": "cuda device gpu",
    "threads": "j jobs num-workers workers",
    "train": "fit run",
    "validation": "eval-set val validation-data val-fraction val-split",
    "warmup-epochs": "warmup",
    "weight-decay": "wd",
    "weights": "pretrained pretrained-model",
    "width": "dim embed-dim hidden-size",
}
_SIZES = {"tiny": "ti", "small": "s", "base": "b", "large": "l", "huge": "h"}
_PUBLISHED = re.compile(r"(?:.*-)?(?:vit|deit)-([tsblh]i?)\w*-patch(\d+)-?(\d*).*")  # vit_tiny_patch16_224


def meanings(word: str) -> list[str]:
    """The names here for what other programs call so, most of them flags without their dashes."""
    key = _plain(word)
    if published := _PUBLISHED.fullmatch(key):
        size, patch, side = published.groups()
        return [f"{size}-{patch}-{side}", f"{size}-{patch}-384", f"{size}-{patch}", f"vit-{size}-{patch}"]
    if listed := [name for name, others in _ELSEWHERE.items() if key in others.split()]:
        return listed
    size = _SIZES.get(key.removeprefix("vit-").partition("-")[0])  # as in tiny/16
    return [f"{size}-16", f"{size}-14"] if size else []


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """' (did you mean NAME?)', to follow the word in a message, with one of the names; '' if none is near."""
    known = {_plain(name): name for name in names}
    meant = [name for name in meanings(word) if name in known]
    near = meant or [name for name in known if name.endswith(f"-{_plain(word)}")]
    near = near or difflib.get_close_matches(_plain(word), known, 1, 0.7)
    return f" (did you mean {known[near[0]]}?)" if near else ""


def _plain(name: str) -> str:
    """A name in small letters, without the dashes before a flag, its words divided by dashes."""
    return re.sub("[_/]", "-", name.lower().lstrip("-"))


def _without_middle(text: str, longest: int) -> str:
    half = longest // 2 - 2
    return text if len(text) <= longest else f"{text[:half]}...{text[-half:]}"


_lock = Lock()
_ignored: list[tuple[type[Warning], str]] = []  # by the contexts that are open
_before: list[warnings.catch_warnings] = []  # keeps the filters from before the first of them; one or none


@contextlib.contextmanager
def without_warnings(category: type[Warning] = Warning, module: str = "") -> Iterator[None]:
    """Within this context, warnings of a category from a module (a regular expression; any) are ignored.

    Python has one list of filters for all threads, and catch_warnings puts back the list that it found. If
    two such contexts overlapped, on two threads or in two generators, the last to leave would put back the
    filters of the other, for good. Here each takes away its own, and the last to leave puts back the list
    that the first to enter found.
    """
    own = category, module
    with _lock:
        _ignored.append(own)
        _filter()
    try:
        yield
    finally:
        with _lock:
            _ignored.remove(own)
            _filter()


def _filter() -> None:
    """Put back the filters from before, and then ignore what is to be ignored."""
    if _before:
        _before.pop().__exit__(None, None, None)
    if _ignored:
        _before.append(warnings.catch_warnings())
        _before[0].__enter__()
    for category, module in _ignored:
        warnings.filterwarnings("ignore", category=category, module=module)
