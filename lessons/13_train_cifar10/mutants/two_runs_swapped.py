"""Shuffled labels and held-out images in another range are taken for each other."""

import importlib

solution = importlib.import_module("lessons.13_train_cifar10.solution")
evaluate = solution.evaluate
fit = solution.fit
verdict = solution.verdict


def faults_found():
    found = solution.faults_found()
    return found | {"A": found["B"], "B": found["A"]}
