"""Any gap between the two losses is called overfitting."""

import importlib

solution = importlib.import_module("lessons.13_train_cifar10.solution")
evaluate = solution.evaluate
fit = solution.fit
faults_found = solution.faults_found


def verdict(records, classes):
    found, last = solution.verdict(records, classes), records[-1]
    if found == "learning" and last["train_loss"] < 0.8 * last.get("val_loss", 0):
        return "overfitting"
    return found
