"""Every reader, given some hundreds of damaged files: `python -m tests.fuzz` gives them as many as wanted."""

import json
import random
import sys

import pytest

from tests.fuzz import guard, worker
from tests.fuzz.mutate import damaged
from tests.fuzz.readers import READERS, Reader
from tinyvit.support.errors import UserError

SLOW = "official", "checkpoint", "description", "preprocessing", "index", "clip", "merges", "tokenizer"
SLOW += "arrays", "vocabulary"  # many arrays or words are read for each
INPUTS = dict.fromkeys(READERS, 300) | dict.fromkeys(SLOW, 150)

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is limited as on Linux")


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_read_or_refused(tmp_path, name):
    counts, _ = guard.fuzz(name, tmp_path, 0, INPUTS[name], 600)
    assert counts.keys() == {"read", "refused"}, sorted((tmp_path / "found").iterdir())
    assert counts.total() == INPUTS[name]


def test_damage_depends_on_the_seed_alone():
    first, second = (damaged(random.Random(seed), b"abc" * 99, [b"def" * 99]) for seed in (7, 7))
    assert first == second
    assert len({damaged(random.Random(seed), b"abc" * 99, [b"def" * 99]) for seed in range(50)}) > 40


def reader(read):
    return Reader("a.txt", lambda folder: [b"text"], damaged, read)


@pytest.mark.parametrize("prefix", ["n", "blocks."])
def test_a_file_of_a_great_many_names_takes_no_longer_than_is_allowed(tmp_path, prefix):
    empty = {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}
    header = json.dumps({f"{prefix}{i}": empty for i in range(30_000)}).encode()
    (tmp_path / "a.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    assert worker.outcome(READERS["safetensors"], tmp_path) == "refused"


def test_whatever_else_comes_of_a_file_is_a_fault(tmp_path, monkeypatch):
    def complain(message):
        raise UserError(message)

    def overflow(folder):
        raise RecursionError

    outcomes = {
        "read": lambda folder: None,
        "refused": lambda folder: complain("a.txt is damaged."),
        "a message without a name": lambda folder: complain("it is damaged."),
        "too much memory": lambda folder: complain("a.txt does not fit into memory."),
        "RecursionError in test_fuzz.py": overflow,
    }
    for expected, read in outcomes.items():
        assert worker.outcome(reader(read), tmp_path).startswith(expected)
