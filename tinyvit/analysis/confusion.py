"""What a model confuses: how often it predicts each class for the images of each class, and its mistakes."""

import numpy as np


def confusion_counts(labels: np.ndarray, said: np.ndarray, classes: int) -> np.ndarray:
    """The number of images of each class (row) for which the model predicts each class (column): (C, C) int.

    labels and said (n,) are class indices from 0 to classes - 1.
    """
    return np.bincount(labels * classes + said, minlength=classes * classes).reshape(classes, classes)


def worst_mistakes(labels: np.ndarray, probabilities: np.ndarray, count: int) -> np.ndarray:
    """Indices of the images (at most count) that are misclassified with the highest probability.

    labels (n,) are class indices, probabilities (n, C); the worst mistake comes first.
    """
    wrong = np.flatnonzero(probabilities.argmax(axis=1) != labels)
    return wrong[np.argsort(-probabilities[wrong].max(axis=1), kind="stable")[:count]]
