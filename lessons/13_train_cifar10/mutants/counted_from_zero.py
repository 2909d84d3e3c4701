"""The place in the list is returned, not the number of the epoch."""

import importlib

solution = importlib.import_module("lessons.13_train_cifar10.solution")
smooth = solution.smooth
verdict = solution.verdict
faults_found = solution.faults_found


def best_epoch(records):
    return solution.best_epoch(records) - 1
