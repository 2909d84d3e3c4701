"""CLIP's tokenizer: byte pair encoding (Sennrich et al. 2016), from a text to the numbers of its tokens.

A word is at first one symbol for each of its bytes, the last of them marked as the end of the word. Of all
neighbouring symbols, the pair that was most common in the texts of training is merged into one, then the next
most common, and so on, until no pair is left that is in the list of merges. Common words become one token,
rare ones a few, and none is unknown.
"""

import unicodedata
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from tinyvit.support.errors import UserError
from tinyvit.support.files import read_json, read_text

START, END = "<|startoftext|>", "<|endoftext|>"
_SHORT_FORMS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")


class Tokenizer:
    """numbers holds the number of every token; ranks how early each pair of symbols is merged.

    source is where they come from, for messages.
    """

    def __init__(self, numbers: dict[str, int], ranks: dict[tuple[str, str], int], source: str):
        self.numbers, self.ranks, self.source = numbers, ranks, source
        self._tokens_of = lru_cache(maxsize=10_000)(self._merged)

    @classmethod
    def load(cls, folder: Path) -> "Tokenizer":
        """The tokenizer in a folder of Hugging Face's: vocab.json and merges.txt, or tokenizer.json."""
        try:
            if (folder / "vocab.json").is_file():
                numbers = read_json(folder / "vocab.json")
                lines = read_text(folder / "merges.txt").split("\n")[1:]  # the first is a comment
            else:
                model = read_json(folder / "tokenizer.json")["model"]
                numbers, lines = model["vocab"], model["merges"]
            pairs = [line.split(" ") if isinstance(line, str) else line for line in lines if line]
            ranks = {(one, other): rank for rank, (one, other) in enumerate(pairs)}
            if odd := next((t for t, number in numbers.items() if type(number) is not int), None):
                raise ValueError(f"token {odd!r} has no number")
            if missing := next((token for token in (START, END) if token not in numbers), None):
                raise ValueError(f"it lacks {missing}")
            return cls(numbers, ranks, str(folder))
        except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
            raise UserError(
                f"{folder} has no tokenizer that can be read ({error}): expected vocab.json and merges.txt, "
                "or tokenizer.json. Download them too."
            ) from error

    def encode(self, text: str, length: int) -> list[int]:
        """The numbers of a text's tokens, with those of start and end around them, truncated to `length`."""
        tokens = [token for word in split_words(text) for token in self._tokens_of(word)]
        try:
            numbers = [self.numbers[token] for token in tokens]
        except KeyError as error:
            raise UserError(
                f"the tokenizer in {self.source} has no token {error}: download it again."
            ) from None
        return [self.numbers[START], *numbers[: length - 2], self.numbers[END]]

    def _merged(self, word: str) -> tuple[str, ...]:
        """The tokens of a word."""
        if word in (START, END):
            return (word,)
        symbols = [_BYTES[byte] for byte in word.encode("utf-8")]
        symbols[-1] += "</w>"
        while len(symbols) > 1:
            best = min(pairwise(symbols), key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if best not in self.ranks:
                break
            merged, i = [], 0
            while i < len(symbols):
                together = tuple(symbols[i : i + 2]) == best
                merged.append("".join(best) if together else symbols[i])
                i += 2 if together else 1
            symbols = merged
        return tuple(symbols)


def split_words(text: str) -> list[str]:
    """The words of a text in lower case: letters, single digits, other signs, and short forms such as 's."""
    text = " ".join(unicodedata.normalize("NFC", text).split()).lower()
    words, i = [], 0
    while i < len(text):
        special = next((s for s in (START, END, *_SHORT_FORMS) if text.startswith(s, i)), "")
        j = i + max(1, len(special))
        kind = _kind(text[i])
        while not special and kind in "LO" and j < len(text) and _kind(text[j]) == kind:
            j += 1
        if kind != " ":
            words.append(text[i:j])
        i = j
    return words


def _kind(character: str) -> str:
    """L for letters, N for digits and other numbers, a blank for white space, O for all others."""
    if character.isspace():
        return " "
    kind = unicodedata.category(character)[0]
    return kind if kind in "LN" else "O"


def _printable_bytes() -> list[str]:
    """A character that can be printed for each byte: itself if it can, otherwise one from 256 on (GPT-2)."""
    own = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in own else chr(next(others)) for byte in range(256)]


_BYTES = _printable_bytes()
