"""The test accuracy decides, though there is a validation set."""

import importlib

solution = importlib.import_module("lessons.13_train_cifar10.solution")
smooth = solution.smooth
verdict = solution.verdict
faults_found = solution.faults_found


def best_epoch(records):
    measured = [record for record in records if record["test_accuracy"] is not None]
    return max(measured or records, key=lambda record: record["test_accuracy"] or 0)["epoch"]
