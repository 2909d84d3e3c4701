"""Solvers of the ridge problem. One kind is right; the others are right for some X or some ridge only."""

import numpy as np


def features_by_features(X, Y, ridge):
    return np.linalg.solve(X.T @ X + ridge * np.eye(X.shape[1]), X.T @ Y)


def shares_of_images(X, Y, ridge):
    return X.T @ np.linalg.solve(X @ X.T + ridge * np.eye(len(X)), Y)


# The wrong ones


def no_ridge_when_few(X, Y, ridge):
    """With fewer images than features, every image is fitted exactly."""
    if len(X) < X.shape[1]:
        return np.linalg.pinv(X) @ Y
    return features_by_features(X, Y, ridge)


def no_ridge_when_many(X, Y, ridge):
    """With more images than features, the penalty is thought to be needless."""
    if len(X) > X.shape[1]:
        return np.linalg.lstsq(X, Y, rcond=None)[0]
    return features_by_features(X, Y, ridge)


def ridge_of_one(X, Y, ridge):
    """The penalty is 1, whatever was asked for."""
    return features_by_features(X, Y, 1.0)


def half_a_ridge(X, Y, ridge):
    """One of the two terms of the gradient has lost its factor 2."""
    return features_by_features(X, Y, ridge / 2)


def offset_without_ridge(X, Y, ridge):
    """The last weight is not charged for: as good in practice, but another problem."""
    penalties = np.full(X.shape[1], ridge)
    penalties[-1] = 0
    return np.linalg.solve(X.T @ X + np.diag(penalties) + 1e-12 * np.eye(X.shape[1]), X.T @ Y)


def one_class(X, Y, ridge):
    """All columns of W are that of the first class."""
    W = features_by_features(X, Y, ridge)
    return np.repeat(W[:, :1], W.shape[1], axis=1)


def a_few_steps(X, Y, ridge):
    """Two hundred steps of gradient descent: nearly there."""
    W = np.zeros((X.shape[1], Y.shape[1]))
    rate = 1 / (np.linalg.norm(X, 2) ** 2 + ridge)
    for _ in range(200):
        W -= rate * (X.T @ (X @ W - Y) + ridge * W)
    return W


RIGHT = {"F x F": (features_by_features,), "n x n": (shares_of_images,)}
WRONG = {
    wrong.__name__: (wrong,)
    for wrong in (
        no_ridge_when_few,
        no_ridge_when_many,
        ridge_of_one,
        half_a_ridge,
        offset_without_ridge,
        one_class,
        a_few_steps,
    )
}
