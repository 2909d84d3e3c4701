"""Of equal epochs the last is taken."""

import importlib

solution = importlib.import_module("lessons.13_train_cifar10.solution")
smooth = solution.smooth
verdict = solution.verdict
faults_found = solution.faults_found


def best_epoch(records):
    return solution.best_epoch(records[::-1])
