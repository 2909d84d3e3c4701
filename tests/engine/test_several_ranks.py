"""The steps of several ranks, which share the images of a batch, are those of one process."""

import numpy as np
import pytest

from tests.helpers import distance, tiny_config
from tests.support.distributed.fake_mpi import together
from tinyvit.data import plan_batch
from tinyvit.engine import CpuEngine, ReferenceEngine, Training
from tinyvit.gradcheck import random_params
from tinyvit.optim import make_optimizer
from tinyvit.support.distributed import ALONE

NOISY = tiny_config(drop_path=0.3, layers=3)


def two_steps(engine, ranks, accumulate=1, **options):
    """Losses, norms and parameters after two steps on a random model and training set."""
    rng, found = np.random.default_rng(1), []
    params = random_params(NOISY, rng, "float64")
    images, labels = rng.integers(0, 256, (20, 8, 8, 3), dtype=np.uint8), rng.integers(0, NOISY.classes, 20)
    optimizer = make_optimizer("adamw", params, weight_decay=0.1)
    training = Training(images, labels, optimizer, 1.0, accumulate, ranks=ranks)
    made = engine(NOISY, params, training=training, **options)
    for step in (1, 2):
        plan = plan_batch(3, step, np.random.default_rng(step).permutation(20), padding=2, flip=True)
        found += [float(number) for number in made.step(plan, 0.01)]
    return np.array(found), params.flat


@pytest.mark.parametrize(
    "size, accumulate, folded_from",
    [(2, 1, 0), (2, 2, 0), (3, 1, 0), (3, 2, 0), (3, 1, 7 * 5), (3, 1, 10**6)],
)
def test_the_steps_of_several_ranks_are_those_of_one(monkeypatch, size, accumulate, folded_from):
    """Of 20 images on three ranks one has 6 and two have 7, of 5 tokens each: it may be the one that does not
    fold. The stand-in for MPI checks that all make the same calls."""
    monkeypatch.setattr(CpuEngine, "least_tokens_to_fold", folded_from)
    expected, right = two_steps(ReferenceEngine, ALONE)
    for found, weights in together(
        size, lambda ranks: two_steps(CpuEngine, ranks, accumulate, threads=2, micro_batch=2)
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-10)
        assert distance(weights, right) < 1e-9
