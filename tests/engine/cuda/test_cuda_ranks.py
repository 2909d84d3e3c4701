"""The CUDA engine as one of two ranks: gradients are summed, and applied, after its graphs."""

import numpy as np
import pytest

from tests.engine.cuda.engine_cases import CASES, SIDE, draw
from tests.helpers import distance
from tinyvit.backend import to_numpy
from tinyvit.data import plan_batch
from tinyvit.engine import ReferenceEngine, Training, make_engine
from tinyvit.engine.cuda.engine import CudaEngine
from tinyvit.optim import make_optimizer
from tinyvit.support.distributed import ALONE, Ranks


class Twins(Ranks):
    """The first of two ranks whose images are the same: what the other has is what this one has."""

    size = 2

    def all_reduce(self, flat):
        flat *= 2

    def sum(self, number):
        return number + number


def trained(make, params, xp, ranks, accumulate):
    """Losses and norms of three steps, each on four images twice, and the parameters."""
    rng = np.random.default_rng(3)
    images = xp.asarray(rng.integers(0, 256, (20, SIDE, SIDE, 3), dtype=np.uint8))
    labels = xp.asarray(rng.integers(0, CASES["mean"].classes, 20))
    stepper = make_optimizer("adamw", params, weight_decay=0.1)
    training = Training(images, labels, stepper, 0.5, accumulate, ranks=ranks)
    engine = make(CASES["mean"], params, training=training)
    found = []
    for step in range(1, 4):
        plan = plan_batch(3, step, np.tile(rng.permutation(20)[:4], 2))
        found.append([float(number) for number in engine.step(plan, 0.002 * step)])
    return np.array(found), to_numpy(params.flat), engine


def test_the_workspace_of_a_rank_is_that_of_its_own_images(cuda):
    sizes = []
    for ranks in (ALONE, Twins()):
        engine = trained(make_engine, draw(CASES["mean"])[0].to(cuda.xp), cuda.xp, ranks, 1)[2]
        sizes.append(float(engine.summary(60_000).split()[-2].replace(",", "")))
    assert 1.9 * sizes[1] < sizes[0] < 2.1 * sizes[1]
    assert engine.summary(120_000)  # more than one of them could compute at a time


@pytest.mark.parametrize("accumulate", [1, 2])
def test_a_part_of_the_batch_summed_over_ranks_is_the_batch(any_cuda, accumulate):
    params = draw(CASES["mean"])[0]
    right, weights, _ = trained(ReferenceEngine, params.to(np), np, ALONE, accumulate)
    alike, _, _ = trained(ReferenceEngine, params.to(np), np, Twins(), accumulate)
    np.testing.assert_allclose(alike, right, rtol=1e-5)
    found, ours, engine = trained(make_engine, params.to(any_cuda.xp), any_cuda.xp, Twins(), accumulate)
    assert isinstance(engine, CudaEngine) and engine.note == ""
    np.testing.assert_allclose(found, right, rtol=1e-4)
    counts = abs(weights - params.flat) > 1e-6
    assert distance((ours - params.flat)[counts], (weights - params.flat)[counts]) < 1e-2
