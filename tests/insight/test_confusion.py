"""Counting what is taken for what, and finding the worst mistakes."""

import numpy as np

from tinyvit.training.evaluation import confusion_counts, worst_mistakes


def test_rows_are_true_classes_and_columns_predicted_ones():
    labels, said = np.array([0, 0, 0, 2, 2]), np.array([0, 1, 1, 2, 0])
    assert confusion_counts(labels, said, 3).tolist() == [[1, 2, 0], [0, 0, 0], [1, 0, 1]]


def test_any_labels_are_counted_once_each():
    labels, said = np.random.default_rng(0).integers(0, 7, (2, 500))
    counts = confusion_counts(labels, said, 7)
    expected = np.zeros((7, 7), int)
    np.add.at(expected, (labels, said), 1)
    assert np.array_equal(counts, expected)


def test_mistakes_come_surest_first_and_without_what_is_right():
    probabilities = np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7], [0.6, 0.4], [0.1, 0.9]])
    labels = np.array([1, 1, 0, 1, 0])
    assert worst_mistakes(labels, probabilities, 9).tolist() == [0, 4, 2, 3]
    assert worst_mistakes(labels, probabilities, 2).tolist() == [0, 4]


def test_a_model_that_is_always_right_makes_no_mistakes():
    assert worst_mistakes(np.array([0, 1]), np.eye(2), 5).tolist() == []
