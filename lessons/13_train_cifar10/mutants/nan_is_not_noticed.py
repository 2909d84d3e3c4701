"""nan is compared with numbers, which is never true."""

import importlib
import math

solution = importlib.import_module("lessons.13_train_cifar10.solution")
evaluate = solution.evaluate
fit = solution.fit
faults_found = solution.faults_found


def verdict(records, classes):
    finite = [record for record in records if math.isfinite(record["train_loss"])]
    return solution.verdict(finite, classes)
