"""Three short functions on the records of metrics.jsonl."""

import math


def smooth(values, share):
    """Running mean with the bias of its start taken out."""
    mean, result = 0.0, []
    for t, value in enumerate(values, start=1):
        mean = share * mean + (1 - share) * value  # eq. 3
        result.append(mean / (1 - share**t))  # eq. 4
    return result


def best_epoch(records):
    """The epoch with the highest validation accuracy, or test accuracy without a validation set."""
    key = "val_accuracy" if any("val_accuracy" in record for record in records) else "test_accuracy"
    measured = [record for record in records if record.get(key) is not None]
    return max(measured, key=lambda record: record[key])["epoch"]  # max keeps the first of equals


def verdict(records, classes):
    """What the losses of a run say."""
    guess, last = math.log(classes), records[-1]
    if not all(math.isfinite(record["train_loss"]) for record in records) or last["train_loss"] > 1.2 * guess:
        return "diverged"
    if last["train_loss"] > 0.95 * guess:
        return "not learning"
    if "val_loss" in last:
        lowest = min(records, key=lambda record: record["val_loss"])
        if last["val_loss"] > 1.1 * lowest["val_loss"] and last["train_loss"] < lowest["train_loss"]:
            return "overfitting"
    return "learning"
