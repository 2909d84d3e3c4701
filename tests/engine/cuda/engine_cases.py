"""The models that the CUDA engine is tested with, what is compiled for them, and how they are trained."""

from dataclasses import replace
from functools import cache, partial
from itertools import product

import numpy as np

from tests.helpers import tiny_config
from tinyvit.backend import to_numpy
from tinyvit.data import make_policy, plan_batch
from tinyvit.engine import Training
from tinyvit.engine.cuda.launch import Launch
from tinyvit.engine.cuda.plan import Options, Update, plan_inference, plan_step
from tinyvit.gradcheck import random_params
from tinyvit.model.later.rotary import DINOV3, Rotary
from tinyvit.objectives import loss_and_grads, masked_patches
from tinyvit.training.learning import make_learning
from tinyvit.training.settings import Settings

SIDE, BATCH = 8, 5
NOISY = {"dropout": 0.2, "attention_dropout": 0.2, "drop_path": 0.3}
CASES = {
    "everything": tiny_config(width=24, mlp_width=40, pre_logits=8, **NOISY),
    "mean": tiny_config(width=24, mlp_width=40, pool="mean", gelu="exact", position="sincos", layers=1),
    "plain": tiny_config(width=24, mlp_width=40),
    "odd": tiny_config(width=15, mlp_width=7, pool="mean", position="none", pre_logits=3, **NOISY),
    "later": tiny_config(width=24, mlp_width=40, position="2d", registers=2, rotary=Rotary(), dropout=0.2),
    "DINOv3": tiny_config(
        width=24, pool="mean", class_token=True, registers=1, position_on="patches", rotary=DINOV3
    ),
    "mean-colour": tiny_config(width=24, mlp_width=40, predicts="patches", classes=512, **NOISY),
    "downsized": tiny_config(width=24, predicts="patches", classes=16 * 512, layers=1, registers=1),
    "pixels": tiny_config(width=24, pool="mean", predicts="patches", classes=48, pre_logits=8),
}


def what_of(case):
    """The options for what a model of these cases predicts of corrupted patches; none if it classifies."""
    return {"target": case, "corrupt": 0.75} if CASES[case].predicts_patches else {}


def objective_of(case, smoothing=0.0):
    """The objective that it is trained with."""
    if what := what_of(case):
        return partial(masked_patches.loss_and_grads, **what)
    return partial(loss_and_grads, smoothing=smoothing)


@cache
def instances():
    """The functions of each file that the plans of all cases launch."""
    found = {}
    for case, form in product(CASES, ("tanh", "exact")):
        config, what = replace(CASES[case], gelu=form), what_of(case)
        for precision in ("fp32", "bf16"):
            plans = [plan_inference(config, BATCH, Options(precision), of) for of in ("logits", "features")]
            for kind in ("adamw", "adam", "sgd"):
                for dataset in (None, (20, SIDE, SIDE, 3)):
                    options = Options(precision, dataset=dataset, operations=2, update=Update(kind), **what)
                    plans.append(plan_step(config, BATCH, options))
            plans.append(plan_step(config, BATCH, Options(precision, shared_limit=0, **what)))
            for step in (step for plan in plans for step in plan.steps):
                if isinstance(step, Launch):
                    found.setdefault(step.file, set()).add(step.function)
    return found


def draw(config, count=BATCH, seed=1):
    """Random parameters, float32; normalised images, labels and distributions."""
    rng = np.random.default_rng(seed)
    params = random_params(config, rng, "float32")
    images = rng.standard_normal((count, *config.image_size, config.channels)).astype("float32")
    labels, soft = rng.integers(0, config.classes, count), rng.dirichlet(np.ones(config.classes), count)
    return params, images, labels, soft


def worst_gradient(grads, expected):
    """The largest relative distance of a parameter's gradient, and its name; floored as in test_engines."""
    floor = 1e-2 * np.linalg.norm(expected.flat)
    return max(
        (np.linalg.norm(grads[name] - expected[name]) / max(np.linalg.norm(expected[name]), floor), name)
        for name in expected
    )


def trained(
    make,
    config,
    params,
    xp,
    optimizer="adamw",
    clip=1.0,
    accumulate=1,
    steps=4,
    size=None,
    objective=loss_and_grads,
    augment="none",
    learning=None,
    **mixes,
):
    """Losses and norms of some steps, the parameters, and the optimiser's state.

    size is that of the data set's images, if it is not the model's; learning are the settings of
    make_learning.
    """
    rng = np.random.default_rng(3)
    images = xp.asarray(rng.integers(0, 256, (20, *(size or config.image_size), 3), dtype=np.uint8))
    labels = xp.asarray(rng.integers(0, config.classes, 20))
    what = {"optimizer": optimizer, "weight_decay": 0.1} | (learning or {})
    stepper, frozen = make_learning(Settings(dataset="shapes", model="", **what), config, params)
    training = Training(
        images,
        labels,
        stepper,
        clip,
        accumulate,
        operations=augment != "none" or "jitter" in mixes,
        by_arrays=bool({"scale", "own"} & mixes.keys()),
        frozen=frozen,
    )
    engine, policy = make(config, params, objective, training=training), make_policy(augment)
    found = []
    for step in range(1, steps + 1):
        indices = rng.permutation(20)[:BATCH]
        plan = plan_batch(3, step, indices, padding=2, flip=True, policy=policy, **mixes)
        found.append([float(number) for number in engine.step(plan, 0.002 * step)])
    state = {name: to_numpy(array) for name, array in stepper.state.items()}
    return np.array(found), to_numpy(params.flat), state
