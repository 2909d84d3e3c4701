"""The race of lesson 25's puzzle runs, and says what came of it. Who wins is not asked: machines are busy."""

import importlib

import numpy as np

race = importlib.import_module("lessons.25_memory.race")


def test_the_race_says_how_fast_both_are(capsys):
    status = race.main(["--impl", "solution", "--pairs", "2", "--numbers", "30000"])
    printed = capsys.readouterr().out
    assert "30,000 numbers in float32, 2 pairs" in printed
    assert "the slow one against itself" in printed
    assert ("beaten" in printed) == (status == 0)
    assert ("not yet" in printed) == (status == 1)


def test_nobody_races_before_it_is_right():
    slow = importlib.import_module("lessons.25_memory.slow").adam_as_written
    right = importlib.import_module("lessons.25_memory.solution").adam_in_pieces
    assert race.apart(right, slow) < 1e-5
    assert race.apart(lambda w, g, m, v, step, lr: np.negative(w, out=w), slow) > 1e-3


def test_an_unwritten_answer_is_to_do(capsys):
    assert race.main(["--pairs", "1"]) == 1
    assert capsys.readouterr().out.startswith("to do: write adam_in_pieces")
