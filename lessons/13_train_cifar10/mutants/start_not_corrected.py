"""The running mean starts at 0 and is not corrected."""

import importlib

solution = importlib.import_module("lessons.13_train_cifar10.solution")
best_epoch = solution.best_epoch
verdict = solution.verdict
faults_found = solution.faults_found


def smooth(values, share):
    mean, result = 0.0, []
    for value in values:
        mean = share * mean + (1 - share) * value
        result.append(mean)
    return result
