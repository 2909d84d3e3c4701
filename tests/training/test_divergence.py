"""Training that has left all bounds ends at once, with what happened, what is kept and what to try."""

import math

import numpy as np
import pytest

from tests.tiny_runs import assert_one_line, tiny
from tinyvit import train
from tinyvit.engine import ReferenceEngine
from tinyvit.support.errors import UserError
from tinyvit.training.loop import Guard

GUESS = math.log(10)  # the loss of blind guessing among 10 classes


@pytest.fixture
def guard():
    return Guard(GUESS, 0.5, lambda: "The last good checkpoint is kept.")


@pytest.mark.parametrize("loss", [math.nan, math.inf, 20.1 * GUESS, 25 * GUESS, 1e30])
def test_a_loss_far_above_blind_guessing_or_nan_has_diverged(guard, loss):
    with pytest.raises(UserError, match=r"diverged: after step 1,234 the loss is .*guessing gives 2\.30\."):
        guard.check_loss(loss, 1234)


@pytest.mark.parametrize("loss", [0, GUESS, 3 * GUESS, 19.9 * GUESS])
def test_a_loss_that_is_merely_bad_has_not(guard, loss):
    guard.check_loss(loss, 1)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_has_diverged(guard, value):
    with pytest.raises(UserError, match="after step 7 the gradient is not finite"):
        guard.check_finite("the gradient", value, 7)
    guard.check_finite("the gradient", 1e300, 7)


def test_one_bad_number_among_many_has_diverged(guard):
    guard.check_arrays("a parameter", [np.zeros(3), np.full(2, 1e30)], 7)
    for bad in (math.nan, math.inf, -math.inf):
        with pytest.raises(UserError, match="after step 7 a parameter is not finite"):
            guard.check_arrays("a parameter", [np.zeros(3), np.array([0, bad, 1])], 7)


def test_what_is_saved_after_an_epoch_is_checked_once(go, photos, tmp_path, monkeypatch):
    checks, check = [], Guard.check_arrays
    monkeypatch.setattr(Guard, "check_arrays", lambda *args: checks.append(args[-1]) or check(*args))
    assert go(train, *tiny(photos, tmp_path / "run"))[0] == 0
    assert checks == [4, 8, 12]


def test_the_message_says_what_is_kept_and_what_to_try(guard):
    with pytest.raises(UserError, match=r"The last good checkpoint is kept\. Try a lower --lr than 0\.5, or"):
        guard.check_loss(math.nan, 1)


@pytest.mark.parametrize("what", ["loss is no number", "loss is 25 times guessing", "gradient is no number"])
def test_a_run_ends_at_the_step_that_diverges_and_keeps_the_last_epoch(
    go, photos, tmp_path, monkeypatch, what
):
    take_step = ReferenceEngine.step

    def spoiled(self, plan, lr):
        loss, norm = take_step(self, plan, lr)
        if plan.step < 6:
            return loss, norm
        bad = np.float32(25 * math.log(2) if "25" in what else math.nan)
        return (loss, bad) if "gradient" in what else (bad, norm)

    monkeypatch.setattr(ReferenceEngine, "step", spoiled)
    run = tmp_path / "run"
    assert_one_line(go(train, *tiny(photos, run)), "diverged", "after step 6", str(run / "last.npz"), "--lr")
    assert len((run / "metrics.jsonl").read_text("utf-8").splitlines()) == 1
