"""An accuracy of 0 counts as little as one that was not measured, so that the first of them is taken."""

import importlib

solution = importlib.import_module("lessons.13_train_cifar10.solution")
smooth = solution.smooth
verdict = solution.verdict
faults_found = solution.faults_found


def best_epoch(records):
    key = "val_accuracy" if any("val_accuracy" in record for record in records) else "test_accuracy"
    return max(records, key=lambda record: record.get(key) or -1)["epoch"]
