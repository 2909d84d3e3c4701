"""Checks of lesson 16."""

import copy
import math

import numpy as np
import pytest

from lessons.referee import assert_same


def run_of(train, val=None, accuracy=None):
    """Records as train writes them; with val, those of a run with a validation set."""
    records = []
    for number, loss in enumerate(train):
        record = {"epoch": number + 1, "step": 50 * (number + 1), "train_loss": loss}
        right = accuracy[number] if accuracy else 0.5
        if val:
            record |= {"val_loss": val[number], "val_accuracy": right, "test_accuracy": None}
        else:
            record["test_accuracy"] = right
        records.append(record | {"images_per_second": 800.0, "seconds": 10.0 * (number + 1)})
    return records


@pytest.mark.hint("by hand for 4, 2, 2 and share 0.5: means 2, 2, 2; divided by 0.5, 0.75, 0.875")
def test_smoothing_by_hand(impl):
    result = impl.smooth([4.0, 2.0, 2.0], 0.5)
    assert_same(np.array(result), np.array([4.0, 8 / 3, 16 / 7]), "the smoothed values")


@pytest.mark.hint(
    "share goes with the old mean, 1 - share with the new value; divide by 1 - share**t, t from 1"
)
def test_a_constant_stays_what_it_is(impl):
    result = impl.smooth([2.3] * 6, 0.9)
    assert_same(np.array(result), np.full(6, 2.3), "2.3 six times, smoothed")


@pytest.mark.hint("share is what is kept of the past: with 0 nothing is smoothed")
def test_share_is_that_of_the_past(impl):
    values = np.random.default_rng(0).normal(2, 0.5, 200).tolist()
    assert_same(np.array(impl.smooth(values, 0.0)), np.array(values), "the values at share 0")
    scatter = np.std(impl.smooth(values, 0.95)[50:])
    assert scatter < 0.2, f"at share 0.95 the values still scatter by {scatter:.2f}, expected less than 0.2"
    assert len(impl.smooth(values, 0.95)) == 200, "the result has another length than the values"


@pytest.mark.hint("the epoch's own number, record['epoch'], not its place in the list")
def test_best_epoch_by_test_accuracy(impl):
    records = run_of([2.0, 1.0, 0.5, 0.4], accuracy=[0.3, 0.62, 0.71, 0.70])
    found = impl.best_epoch(records)
    assert found == 3, f"accuracies 0.3, 0.62, 0.71, 0.70: expected epoch 3, got {found}"


@pytest.mark.hint(
    "where there is val_accuracy, it alone decides, whatever the test accuracy of the last epoch"
)
def test_the_test_set_has_no_say_where_there_is_a_validation_set(impl):
    records = run_of([2.0, 1.0, 0.5], [2.0, 1.1, 1.0], [0.3, 0.6, 0.55])
    records[-1]["test_accuracy"] = 0.9
    found = impl.best_epoch(records)
    assert found == 2, f"validation accuracies 0.3, 0.6, 0.55: expected epoch 2, got {found}"


@pytest.mark.hint("of equal ones the first: compare with >, or use max; leave out None")
def test_equal_ones_and_values_that_are_missing(impl):
    records = run_of([2.0, 1.0, 0.5, 0.4], accuracy=[None, 0.7, 0.7, 0.6])
    found = impl.best_epoch(records)
    assert found == 2, f"accuracies None, 0.7, 0.7, 0.6: expected epoch 2, got {found}"


RUNS = {
    "learning": run_of([2.1, 1.5, 1.1, 0.9], [2.0, 1.5, 1.2, 1.1]),
    "not learning": run_of([2.31, 2.304, 2.30, 2.29], [2.3, 2.3, 2.3, 2.3]),
    "diverged": run_of([2.1, 1.4, 9.0, 5.0], [2.0, 1.5, 9.0, 5.0]),
    "overfitting": run_of([2.1, 1.2, 0.4, 0.05], [2.0, 1.4, 1.3, 1.6]),
}


@pytest.mark.hint("go down the table, return at the first line that applies; compare with math.log(classes)")
@pytest.mark.parametrize("name", RUNS)
def test_verdict(impl, name):
    before = copy.deepcopy(RUNS[name])
    found = impl.verdict(RUNS[name], 10)
    assert found == name, f"expected {name!r}, got {found!r}"
    assert RUNS[name] == before, "the records were changed"


@pytest.mark.hint("ask every epoch's train_loss for math.isfinite; nan is not larger than anything")
def test_nan_is_divergence(impl):
    for losses in ([2.1, math.nan, 1.0], [2.1, 1.0, math.nan], [math.inf, 2.0, 1.0]):
        found = impl.verdict(run_of(losses, [2.0, 1.5, 1.2]), 10)
        assert found == "diverged", f"training losses {losses}: expected 'diverged', got {found!r}"


@pytest.mark.hint("overfitting: the held-out loss rose by a tenth while the training loss went on falling")
def test_both_losses_rising_is_not_overfitting(impl):
    records = run_of([2.1, 1.2, 1.25, 1.22], [2.0, 1.2, 1.4, 1.35])
    found = impl.verdict(records, 10)
    assert found == "learning", f"the training loss has not fallen since: expected 'learning', got {found!r}"
    gap = run_of([2.1, 1.2, 0.6, 0.3], [2.0, 1.4, 1.1, 1.0])
    found = impl.verdict(gap, 10)
    assert found == "learning", f"a gap, but both still fall: expected 'learning', got {found!r}"


@pytest.mark.hint("without val_loss there is no telling: use 'val_loss' in record before you look at it")
def test_a_run_without_a_validation_set(impl):
    found = impl.verdict(run_of([2.1, 1.0, 0.2]), 10)
    assert found == "learning", f"expected 'learning', got {found!r}"


@pytest.mark.hint("blind guessing costs math.log(classes)")
def test_the_number_of_classes_counts(impl):
    found = impl.verdict(run_of([4.6, 4.0, 3.5]), 100)
    assert found == "learning", f"loss 3.5 with 100 classes: expected 'learning', got {found!r}"
