"""Checks of lesson 13."""

import copy
import hashlib
import math

import numpy as np
import pytest

from lessons.referee import assert_same

GUESS = math.log(10)


def run_of(train, val=None, accuracy=None, test=None):
    """Records as train writes them; with val, those of a run with a validation set."""
    records = []
    for number, loss in enumerate(train):
        record = {"epoch": number + 1, "step": 50 * (number + 1), "train_loss": loss}
        right = accuracy[number] if accuracy else 0.5
        if val:
            record |= {"val_loss": val[number], "val_accuracy": right}
            record["test_accuracy"] = test[number] if test else None
        else:
            record["test_accuracy"] = right
        records.append(record | {"images_per_second": 800.0, "seconds": 10.0 * (number + 1)})
    return records


def judged(impl, expected, train, val=None, classes=10):
    """Assert what verdict says of these losses, and that it leaves the records as they are."""
    records = run_of(train, val)
    before = copy.deepcopy(records)
    found = impl.verdict(records, classes)
    shown = f"train_loss {_short(train)}" + (f", val_loss {_short(val)}" if val else ", no val_loss")
    assert found == expected, f"{shown}, {classes} classes: expected {expected!r}, got {found!r}"
    assert repr(records) == repr(before), "the records were changed"


def _short(values):
    return [round(value, 3) if math.isfinite(value) else value for value in values]


@pytest.mark.hint("by hand for 4, 2, 2 and share 0.5: means 2, 2, 2; divided by 0.5, 0.75, 0.875")
def test_smoothing_by_hand(impl):
    result = impl.smooth([4.0, 2.0, 2.0], 0.5)
    assert_same(np.array(result), np.array([4.0, 8 / 3, 16 / 7]), "the smoothed values")
    result = impl.smooth([5.0, 1.0], 0.75)
    assert_same(np.array(result), np.array([5.0, (0.75 * 1.25 + 0.25) / 0.4375]), "5, 1 at share 0.75")


@pytest.mark.hint(
    "share goes with the old mean, 1 - share with the new value; divide by 1 - share**t, t from 1"
)
def test_a_constant_stays_what_it_is(impl):
    result = impl.smooth([2.3] * 6, 0.9)
    assert_same(np.array(result), np.full(6, 2.3), "2.3 six times, smoothed")


@pytest.mark.hint("share is what is kept of the past: with 0 nothing is smoothed; return a new list")
def test_share_is_that_of_the_past(impl):
    values = np.random.default_rng(0).normal(2, 0.5, 200).tolist()
    given = list(values)
    assert_same(np.array(impl.smooth(values, 0.0)), np.array(values), "the values at share 0")
    scatter = np.std(impl.smooth(values, 0.95)[50:])
    assert scatter < 0.2, f"at share 0.95 the values still scatter by {scatter:.2f}, expected less than 0.2"
    assert len(impl.smooth(values, 0.95)) == 200, "the result has another length than the values"
    assert values == given, "the list of values was changed"
    assert list(impl.smooth([], 0.9)) == [], "no values: expected an empty list"


@pytest.mark.hint("the epoch's own number, record['epoch'], not its index in the list")
def test_best_epoch_by_test_accuracy(impl):
    records = run_of([2.0, 1.0, 0.5, 0.4], accuracy=[0.3, 0.62, 0.71, 0.70])
    found = impl.best_epoch(records)
    assert found == 3, f"accuracies 0.3, 0.62, 0.71, 0.70: expected epoch 3, got {found}"
    found = impl.best_epoch(records[1:])
    assert found == 3, f"epochs 2 to 4 alone, accuracies 0.62, 0.71, 0.70: expected epoch 3, got {found}"


@pytest.mark.hint("where there is a val_accuracy, it alone decides, whatever the test accuracy is")
def test_the_test_set_has_no_say_where_there_is_a_validation_set(impl):
    records = run_of([2.0, 1.0, 0.5], [2.0, 1.1, 1.0], [0.3, 0.6, None], [None, None, 0.9])
    found = impl.best_epoch(records)
    assert found == 2, f"val_accuracy 0.3, 0.6, None, then test_accuracy 0.9: expected epoch 2, got {found}"
    for test in ([None, None, 0.9], [0.8, 0.1, 0.9]):
        records = run_of([2.0, 1.0, 0.5], [2.0, 1.1, 1.0], [0.3, 0.6, 0.55], test)
        found = impl.best_epoch(records)
        assert found == 2, f"val_accuracy 0.3, 0.6, 0.55, test_accuracy {test}: expected epoch 2, got {found}"


@pytest.mark.hint("not the epoch with the lowest loss: accuracy decides")
def test_the_loss_does_not_decide(impl):
    records = run_of([2.0, 1.0, 0.5, 0.4], [2.0, 0.9, 1.0, 1.3], [0.3, 0.6, 0.64, 0.66])
    found = impl.best_epoch(records)
    assert found == 4, f"val_accuracy 0.3, 0.6, 0.64, 0.66: expected epoch 4, got {found}"


@pytest.mark.hint("of equal ones the first: compare with >, or use max; leave out None, but not 0.0")
@pytest.mark.parametrize("held_out", [False, True])
def test_equal_ones_and_values_that_are_missing(impl, held_out):
    for accuracy, expected in (
        ([None, 0.7, 0.7, 0.6], 2),
        ([0.5, 0.7, 0.6, 0.7], 2),
        ([0.0, 0.0, 0.0, None], 1),
        ([None, 0.2, 0.1, None], 2),
    ):
        losses = [2.0, 1.0, 0.5, 0.4]
        found = impl.best_epoch(run_of(losses, losses if held_out else None, accuracy))
        assert found == expected, f"accuracies {accuracy}: expected epoch {expected}, got {found}"


@pytest.mark.hint("0.0 was measured, and None was not: record.get(key) or -1 takes both for the same")
def test_an_accuracy_of_0_is_better_than_none(impl):
    found = impl.best_epoch(run_of([2.0, 1.0], accuracy=[None, 0.0]))
    assert found == 2, f"accuracies [None, 0.0]: expected epoch 2, got {found}"


@pytest.mark.hint("go down the table, return at the first line that applies; compare with math.log(classes)")
def test_verdict_of_five_runs(impl):
    judged(impl, "learning", [2.1, 1.5, 1.1, 0.9], [2.0, 1.5, 1.2, 1.1])
    judged(impl, "rate too low", [2.31, 2.304, 2.30, 2.29], [2.31, 2.303, 2.301, 2.3])
    judged(impl, "rate too high", [2.31, 2.304, 2.30, 2.29], [2.31, 2.25, 2.303, 2.26])
    judged(impl, "diverged", [2.1, 1.4, 9.0, 5.0], [2.0, 1.5, 9.0, 5.0])
    judged(impl, "overfitting", [2.1, 1.2, 0.4, 0.05], [2.0, 1.4, 1.3, 1.6])


@pytest.mark.hint("ask every epoch's train_loss for math.isfinite; nan is not larger than anything")
def test_nan_is_divergence(impl):
    for losses in ([2.1, math.nan, 1.0], [2.1, 1.0, math.nan], [math.nan, 2.0, 1.0], [math.inf, 2.0, 1.0]):
        judged(impl, "diverged", losses, [2.0, 1.5, 1.2])
        judged(impl, "diverged", losses)


@pytest.mark.hint("the *last* train_loss is compared with 1.2 log C: a run may recover from a bad start")
def test_above_guessing_and_how_far(impl):
    judged(impl, "diverged", [2.3, 2.2, 1.21 * GUESS], [2.3, 2.3, 2.3])
    judged(impl, "rate too low", [2.31, 2.3, 1.19 * GUESS], [2.31, 2.3, 2.3])
    judged(impl, "learning", [6.0, 2.0, 1.0], [5.0, 1.8, 1.0])
    judged(impl, "learning", [1.5, 1.0, 0.9], [2.0, 3.0, 0.9])


@pytest.mark.hint("the *last* train_loss is compared with 0.95 log C, neither the first, the lowest nor any")
def test_below_guessing_and_how_far(impl):
    judged(impl, "rate too low", [2.3, 2.25, 0.951 * GUESS], [2.3, 2.28, 2.26])
    judged(impl, "learning", [2.3, 2.25, 0.949 * GUESS], [2.3, 2.28, 2.26])
    judged(impl, "rate too high", [2.3, 1.9, 0.96 * GUESS], [2.3, 2.0, 2.3])
    judged(impl, "learning", [2.3, 2.29, 2.28, 2.0], [2.3, 2.29, 2.28, 2.0])


@pytest.mark.hint(
    "too high: *some* epoch's val_loss is above 1.01 times that of the epoch just before it; not the lowest "
    "so far, not the last one alone, not the train_loss where there is a val_loss"
)
def test_a_rate_too_high_and_one_too_low(impl):
    flat = [2.30, 2.30, 2.30, 2.30]
    judged(impl, "rate too high", flat, [2.30, 2.0, 2.022, 2.0])
    judged(impl, "rate too low", flat, [2.30, 2.0, 2.018, 2.0])
    judged(impl, "rate too low", flat, [2.20, 2.215, 2.23, 2.245])
    judged(impl, "rate too high", flat, [2.20, 2.30, 2.25, 2.22])
    judged(impl, "rate too high", flat, [2.30, 2.25, 2.22, 2.30])
    judged(impl, "rate too low", [2.30, 2.20, 2.30, 2.30], [2.30, 2.30, 2.30, 2.30])
    judged(impl, "rate too low", [2.30, 2.30], [2.30, 2.30])
    judged(impl, "rate too low", [2.30], [2.30])
    judged(impl, "rate too low", [4.6] * 3, [4.5, 4.53, 4.5], classes=100)


@pytest.mark.hint("without a val_loss the train_loss tells too high from too low; nothing tells overfitting")
def test_a_run_without_a_validation_set(impl):
    judged(impl, "learning", [2.1, 1.0, 0.2])
    judged(impl, "learning", [2.1, 0.2, 0.9, 0.8])
    judged(impl, "rate too low", [2.31, 2.30, 2.29])
    judged(impl, "rate too high", [2.31, 2.25, 2.30, 2.29])


@pytest.mark.hint("overfitting: the held-out loss rose by a tenth while the training loss went on falling")
def test_overfitting_and_what_looks_like_it(impl):
    judged(impl, "learning", [2.1, 1.2, 1.25, 1.22], [2.0, 1.2, 1.4, 1.35])  # the training loss rose too
    judged(impl, "learning", [2.1, 1.2, 0.6, 0.3], [2.0, 1.4, 1.1, 1.0])  # a gap, but both fall
    judged(impl, "learning", [2.1, 1.2, 0.6, 0.3], [2.0, 1.0, 1.0, 1.09])
    judged(impl, "overfitting", [2.1, 1.2, 0.6, 0.3], [2.0, 1.0, 1.0, 1.11])
    judged(impl, "learning", [2.1, 1.2, 0.6, 0.3], [2.0, 1.0, 1.5, 1.05])  # it has come down again
    judged(impl, "overfitting", [2.1, 1.2, 0.6, 0.3], [2.0, 1.0, 1.5, 1.4])  # it has, but not far enough
    judged(impl, "overfitting", [1.9, 1.2, 0.6, 0.3], [1.0, 1.5, 1.4, 1.3])  # lowest in the first epoch
    judged(impl, "overfitting", [2.1, 1.2, 0.3, 0.35], [2.0, 1.0, 1.3, 1.4])  # fallen since epoch 2
    judged(impl, "learning", [1.0, 0.4, 0.5], [1.5, 1.0, 1.2])  # lower than at first, not than since
    judged(impl, "learning", [0.5], [2.0])
    judged(impl, "overfitting", [2.1, 0.5, 0.3], [2.0, 0.4, 0.46])  # a tenth of 0.4, not 0.1
    judged(impl, "learning", [2.1, 1.2, 0.6], [2.2, 2.0, 2.15])
    judged(impl, "rate too low", [2.31, 2.29, 2.28], [2.0, 2.015, 2.03])
    judged(impl, "rate too high", [2.31, 2.29, 2.28], [2.0, 2.3, 2.4])  # the line above in the table


@pytest.mark.hint("blind guessing costs math.log(classes)")
def test_the_number_of_classes_counts(impl):
    judged(impl, "learning", [4.6, 4.0, 3.5], classes=100)
    judged(impl, "rate too low", [4.6, 4.6, 4.5], classes=100)
    judged(impl, "diverged", [0.7, 0.7, 2.0], classes=2)
    judged(impl, "rate too low", [0.7, 0.7, 0.69], classes=2)


# sha256 of "run: cause", so that the answers do not stand here.
RIGHT = {
    "A": "4d04690c54f8507b",
    "B": "710760f676485501",
    "C": "0f3041646832b300",
    "D": "7c9a5e25fc19a855",
}


@pytest.mark.puzzle
@pytest.mark.hint(
    "compare the first epochs with log 10, train_loss with val_loss, and grad_norm between the runs before "
    "they have learned anything"
)
def test_the_faults_of_four_runs(impl):
    found = impl.faults_found()
    assert isinstance(found, dict) and sorted(found) == list(RIGHT), (
        f"expected a dict with the keys A, B, C and D, got {found!r}"
    )
    right = sum(
        hashlib.sha256(f"{run}: {cause}".encode()).hexdigest()[:16] == RIGHT[run]
        for run, cause in found.items()
    )
    assert right == 4, f"{right} of the 4 runs have the right cause"
