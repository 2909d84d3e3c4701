"""The epoch with the lowest validation loss is taken."""

import importlib

solution = importlib.import_module("lessons.13_train_cifar10.solution")
smooth = solution.smooth
verdict = solution.verdict
faults_found = solution.faults_found


def best_epoch(records):
    if "val_loss" in records[-1]:
        return min(records, key=lambda record: record["val_loss"])["epoch"]
    return solution.best_epoch(records)
