"""nan is compared with numbers, which is never true."""

import importlib
import math

solution = importlib.import_module("lessons.11_overfit_one_batch.solution")
train_on_batch, silent_parameters = solution.train_on_batch, solution.silent_parameters
trust_loop, what_went_wrong = solution.trust_loop, solution.what_went_wrong


def diagnose(losses, classes):
    guess = math.log(classes)
    if abs(losses[0] - guess) > 0.01 * guess:
        return "wrong start"
    if max(losses) > 1.5 * guess:
        return "exploded"
    if losses[-1] > 0.9 * guess:
        return "stuck"
    return "learned" if losses[-1] < 0.1 * guess else "slow"
