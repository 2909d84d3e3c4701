"""By hand: does a model learn in bfloat16 as it does in float32? 200 steps on some of the built-in data.

    python -m tests.engine.cuda.two_hundred_steps

The CUDA engine runs in bf16 on the stand-in for CuPy, with its kernels on the CPU; beside it, the CPU engine
does the same steps in float32. For each seed, the mean loss of the last 20 steps and the accuracy on test
images are printed. What the engines differ by should be no more than what the seeds do.
"""

import argparse
import sys
from functools import partial

import numpy as np

from tests.stand_in_cuda import CudaStandIn, FakeCublas
from tinyvit.backend import to_numpy
from tinyvit.data import epoch_order, keep_classes, make_shapes, plan_batch
from tinyvit.engine import CpuEngine, Training
from tinyvit.engine.cuda import cublas
from tinyvit.engine.cuda.engine import CudaEngine
from tinyvit.model import ViTConfig, initialise
from tinyvit.optim import learning_rate, make_optimizer
from tinyvit.training.evaluation import evaluate

BATCH, STEPS, LR = 32, 200, 5e-3


def learn(make, seed, data, xp):
    """Mean loss of the last 20 steps, and accuracy on the test images, of a model trained from this seed."""
    config = ViTConfig(32, 8, 32, 64, 2, 2, len(data.classes))  # small: the kernels run on a CPU
    params = initialise(config, seed).to(xp)
    optimizer = make_optimizer("adamw", params, 0.05)
    images, labels = xp.asarray(data.train.images), xp.asarray(data.train.labels)
    engine = make(config, params, training=Training(images, labels, optimizer, 1.0))
    order = np.concatenate([epoch_order(seed, epoch, len(data.train)) for epoch in range(2)])
    losses = []
    for step in range(1, STEPS + 1):
        plan = plan_batch(seed, step, order[(step - 1) * BATCH : step * BATCH], 2, True)
        losses.append(engine.step(plan, learning_rate(step, STEPS, LR, 20))[0])
    on_host = CpuEngine(config, engine.params.to(np) if xp is not np else params)
    return np.mean([float(to_numpy(loss)) for loss in losses[-20:]]), evaluate(on_host, data.test).accuracy


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    xp = CudaStandIn()
    sys.modules["cupy"] = xp
    cublas.load_library = lambda: FakeCublas(xp.queue)
    data = keep_classes(make_shapes(14_000, 3_000), ("disc", "cross", "arrow"))
    sides = {
        "NumPy": (CpuEngine, np),
        "CUDA bf16": (partial(CudaEngine, precision="bf16"), xp),
    }
    print(f"{'seed':>4}  {'engine':10} {'loss':>7} {'test':>7}")
    for seed in range(parser.parse_args().seeds):
        for name, (make, module) in sides.items():
            loss, accuracy = learn(make, seed, data, module)
            print(f"{seed:4}  {name:10} {loss:7.4f} {100 * accuracy:6.1f}%", flush=True)


if __name__ == "__main__":
    main()
