"""Files and folders are called by the shortest name that tells them apart."""

import os
from pathlib import Path

import pytest

from tinyvit.support.figures import as_argument, call, short_names


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a/1.png"], ["1.png"]),
        (["a/1.png", "a/2.png"], ["1.png", "2.png"]),
        (["a/1.png", "b/1.png", "b/2.png"], ["a/1.png", "b/1.png", "2.png"]),
        (["x/a/1.png", "y/a/1.png", "y/b/1.png"], ["x/a/1.png", "y/a/1.png", "b/1.png"]),
        (["a/1.png", "c/../a/1.png"], ["1.png", "1.png"]),  # the same file
        (["/1.png", "/a/1.png"], ["/1.png", "a/1.png"]),
        ([], []),
    ],
)
def test_a_name_is_as_long_as_it_must_be(paths, names):
    found = short_names([Path(path) for path in paths])
    assert [name.replace(os.sep, "/") for name in found] == names


def test_the_current_folder_has_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert short_names([Path()]) == [tmp_path.name]


@pytest.mark.parametrize(
    ("path", "word"), [("runs/a-1", "runs/a-1"), ("my run", "'my run'"), ("-a", "./-a"), ("-a b", "'./-a b'")]
)
def test_a_path_on_a_command_line_is_one_word_and_no_flag(path, word):
    assert as_argument(path) == as_argument(Path(path)) == word


@pytest.mark.parametrize(
    ("program", "on_the_path", "expected"),
    [
        ("/home/tinyvit/train.py", None, "python -m tinyvit.train"),
        ("/home/tinyvit/__main__.py", "/bin/tinyvit", "python -m tinyvit.train"),
        ("/bin/tinyvit", "/bin/tinyvit", "tinyvit train"),
        ("/my env/bin/tinyvit", None, "'/my env/bin/tinyvit' train"),
        (".venv/bin/tinyvit", "/bin/tinyvit", ".venv/bin/tinyvit train"),
    ],
)
def test_a_hint_calls_a_command_as_this_one_was_called(monkeypatch, program, on_the_path, expected):
    monkeypatch.setattr("sys.argv", [program])
    monkeypatch.setattr("shutil.which", lambda name: on_the_path)
    assert call("train") == expected
