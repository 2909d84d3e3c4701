"""An accuracy of 0 is left out like one that was not measured."""

import importlib

solution = importlib.import_module("lessons.13_train_cifar10.solution")
smooth = solution.smooth
verdict = solution.verdict
faults_found = solution.faults_found


def best_epoch(records):
    key = "val_accuracy" if any("val_accuracy" in record for record in records) else "test_accuracy"
    measured = [record for record in records if record.get(key)] or records[-1:]
    return max(measured, key=lambda record: record[key] or 0)["epoch"]
