"""A rising validation loss is called overfitting even where the training loss rises too."""

import importlib

solution = importlib.import_module("lessons.13_train_cifar10.solution")
evaluate = solution.evaluate
fit = solution.fit
faults_found = solution.faults_found


def verdict(records, classes):
    found = solution.verdict(records, classes)
    held_out = [record["val_loss"] for record in records if "val_loss" in record]
    if found == "learning" and held_out and held_out[-1] > 1.1 * min(held_out):
        return "overfitting"
    return found
