"""All losses are read when training is over: nobody sees when it goes wrong."""

from importlib import import_module

solution = import_module("lessons.28_gpu.solution")
traffic, timeline, round_significand = solution.traffic, solution.timeline, solution.round_significand
trust_graph = solution.trust_graph
split_master, join_master = solution.split_master, solution.join_master


def train_without_waiting(w, batches, rate, largest, every=20):
    losses = []
    for x, t in batches:
        loss, g = solution.loss_and_gradient(w, x, t)
        g *= solution.toy.minimum(1.0, largest / solution.toy.sqrt((g * g).sum()))
        w -= rate * g
        losses.append(loss)
    read = [float(loss) for loss in losses]
    return [sum(read[i : i + every]) / len(read[i : i + every]) for i in range(0, len(read), every)]
