"""A plan, what it depends on besides the model and the number of images, and the draft that it is written in.

Every function of this package is given a draft. It names the arrays that it needs, adds launches and products
to the list of steps, and returns the arrays in which later functions find its results.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from tinyvit.engine.cuda.calls.noise import Mask
from tinyvit.engine.cuda.calls.signature import MULTIPROCESSORS, SHARED_LIMIT
from tinyvit.engine.cuda.calls.sums import ColumnSum
from tinyvit.engine.cuda.launch import Buffer, Product, Step
from tinyvit.model import ViTConfig, layout
from tinyvit.model.params import places

_ALIGNMENT = 64  # numbers: where the part of each kernel begins among the partial sums
PRECISIONS = ("fp32", "tf32", "bf16")


@dataclass(frozen=True)
class Update:
    """The update of the parameters: hyperparameters of an optimiser, and the largest norm of the gradient.

    kind is adamw, adam, sgd or muon. momentum is for sgd, which needs nothing else, and for muon, whose AdamW
    has betas and eps.
    """

    kind: str
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0
    clip: float = math.inf
    momentum: float = 0.95


@dataclass(frozen=True)
class Options:
    """The inputs of a plan.

    precision is fp32, tf32 (float32 numbers, products in TF32) or bf16 (bfloat16 activations and products).
    noise says whether dropout and stochastic depth act.

    dataset is the shape (n, H, W, 3) of the uint8 images from which the batch is taken; without it, the batch
    is given as normalised float32 images, and its targets beside them: labels, or distributions if soft.
    mixing and erasing say whether the plan of the batch has them, and operations how many each image has.
    share is the part of a larger batch that these images are. If the plan is the first for a batch, it is
    fresh: it writes the gradients and the loss, and does not add to them. update follows the last.

    For a model that predicts patches, target is what it predicts of corrupted ones, and corrupt the share of
    these: see objectives. In inference, as many as `given` are corrupted, and given with the batch.

    multiprocessors is how many the card has. Some kernels have as many blocks as fit on them, each of which
    leaves a partial sum. shared_limit is how many bytes of shared memory it allows a block. Another card can
    round a gradient in another way, the same card never does.
    """

    precision: str = "fp32"
    trains: bool = True
    noise: bool = False
    dataset: tuple[int, int, int, int] | None = None
    mixing: bool = False
    erasing: bool = False
    operations: int = 0
    soft: bool = False
    smoothing: float = 0.0
    target: str = "mean-colour"
    corrupt: float = 0.5
    given: int = 0
    share: float = 1.0
    fresh: bool = True
    update: Update | None = None
    multiprocessors: int = MULTIPROCESSORS
    shared_limit: int = SHARED_LIMIT


@dataclass(frozen=True)
class Plan:
    """All that is done for one batch, in order.

    arrays lists every array by name. Those in `outside` are there before and after: parameters, gradients,
    the batch, what is uploaded. All others need memory only from their first use to their last. constants
    holds the values of those that never change. result is the array that inference gives.
    """

    steps: tuple[Step, ...]
    arrays: dict[str, Buffer]
    outside: frozenset[str]
    constants: dict[str, np.ndarray]
    draws: int  # how often dropout and stochastic depth draw random numbers
    result: Buffer | None = None

    @property
    def launches(self) -> int:
        """Number of kernels that are launched, those of matrix products included."""
        return len(self.steps)

    @property
    def bytes_moved(self) -> int:
        """Number of bytes that all steps read and write."""
        return sum(step.bytes_moved for step in self.steps)


def most_draws(config: ViTConfig) -> int:
    """Largest number of random draws in a step: three to corrupt patches, one for dropout in the stem, and
    six in each block."""
    return 4 + 6 * config.layers


class Draft:
    """A plan in the making, for B images.

    parameters and grads give every parameter and its gradient by name, in float32; weights gives the matrices
    in the dtype of the activations, for products. sums lists the gradients of vectors, as sums of
    partial sums: see calls.sums.
    """

    def __init__(self, config: ViTConfig, batch: int, options: Options):
        self.config, self.batch, self.options = config, batch, options
        self.dtype = "bfloat16" if options.precision == "bf16" else "float32"
        self.arrays: dict[str, Buffer] = {}
        self.constants: dict[str, np.ndarray] = {}
        self._outside: set[str] = set()
        self._steps: list[Step] = []
        self._draws = 0
        self._room = 0  # for partial sums
        self.sums: list[ColumnSum] = []
        rows = layout(config)
        self.count = sum(prod(row.shape) for row in rows)
        self.decayed = sum(prod(row.shape) for row in rows if row.decays)
        self._shapes, self._starts = {row.name: row.shape for row in rows}, places(rows)
        self.parameters = self._by_name(self.outside("params", self.count))
        self.grads = self._by_name(self.outside("grads", self.count)) if options.trains else {}
        if self.dtype == "float32":
            self.weights = self.parameters
        else:
            self.weights = self._by_name(self.array("weights", self.count))

    def _by_name(self, flat: Buffer) -> dict[str, Buffer]:
        return {name: flat.view(self._starts[name], *shape) for name, shape in self._shapes.items()}

    def array(self, name: str, *shape: int, dtype: str | None = None) -> Buffer:
        """A new array of the workspace, in the dtype of the activations unless another one is given."""
        if name in self.arrays:
            raise ValueError(f"there are two arrays named {name}")
        self.arrays[name] = Buffer(name, shape, dtype or self.dtype)
        return self.arrays[name]

    def outside(self, name: str, *shape: int, dtype: str = "float32") -> Buffer:
        """An array that is there before and after."""
        self._outside.add(name)
        return self.array(name, *shape, dtype=dtype)

    def constant(self, name: str, values: np.ndarray) -> Buffer:
        """An array whose values never change; it is there once, however often it is asked for."""
        if name in self.constants:
            return self.arrays[name]
        self.constants[name] = values
        return self.outside(name, *values.shape, dtype=str(values.dtype))

    @cached_property
    def keys(self) -> Buffer:
        """The keys of random numbers, with room for every draw that this model could make."""
        return self.outside("keys", most_draws(self.config), 2, dtype="uint32")

    @cached_property
    def controls(self) -> Buffer:
        """The arguments that change from step to step: see calls.optimizer."""
        return self.outside("controls", 8)

    def add(self, step: Step, label: str) -> None:
        """Add a step; the label says which part of the model it serves."""
        self._steps.append(replace(step, label=label))

    def linear(self, x: Buffer, name: str, result: str) -> Buffer:
        """Rows x (R, I) times the matrix of this name (I, O), to a new array (R, O).

        The bias is not added: the kernel that reads the result does so.
        """
        y = self.array(result, x.shape[0], self._shapes[name][1])
        self.add(Product(x, self.weights[name], y), f"{result} = x W")
        return y

    def linear_backward(self, dy: Buffer, x: Buffer, name: str, result: str | None) -> Buffer | None:
        """The gradient of the matrix, from dy (R, O) and x (R, I); that of x, in a new array, if named."""
        adds = not self.options.fresh
        self.add(
            Product(x, dy, self.grads[name], transpose_a=True, accumulate=adds),
            f"gradient of {name} = x^T dy",
        )
        if result is None:
            return None
        dx = self.array(result, *x.shape)
        self.add(Product(dy, self.weights[name], dx, transpose_b=True), f"{result} = dy W^T")
        return dx

    def draw(self, rate: float) -> tuple[float, int]:
        """The rate that is in force, 0 without noise, and the number of the draw, counted from 0.

        To be called in the order in which the reference draws: at a rate of 0 it does not draw.
        """
        if not self.options.noise or rate == 0:
            return 0.0, 0
        return rate, self.draws(1)

    def draws(self, count: int) -> int:
        """The number of the first of `count` draws."""
        self._draws += count
        return self._draws - count

    def mask(self, dropout_rate: float, path_rate: float, tokens: int) -> Mask | None:
        """The mask of a branch of this many rows an image, by dropout and stochastic depth; None without."""
        dropout, path = self.draw(dropout_rate), self.draw(path_rate)
        return Mask(*dropout, *path, tokens, self.keys) if dropout[0] or path[0] else None

    def partials(self, *shape: int) -> Buffer:
        """Room for partial sums, which are added up at the end: see sums_to."""
        start = self._room
        self._room += -(-prod(shape) // _ALIGNMENT) * _ALIGNMENT
        return Buffer("partials", shape, "float32", start)

    def sums_to(self, name: str, partials: Buffer, start: int = 0, stride: int | None = None) -> None:
        """The gradient of a parameter is the sum of rows of these partial sums.

        A row has as many numbers as the parameter. The first begins at `start`, and each of the others
        `stride` numbers after the one before; without a stride, they follow one another.
        """
        columns = prod(self._shapes[name])
        stride = stride or columns
        rows = (partials.size - start - columns) // stride + 1
        self.sums.append(ColumnSum(partials.start + start, rows, columns, self._starts[name], stride))

    def all_partials(self) -> Buffer:
        """The flat array of all partial sums, once each kernel has its part of it."""
        return self.array("partials", self._room, dtype="float32")

    def finish(self, result: Buffer | None = None) -> Plan:
        """The plan."""
        return Plan(
            tuple(self._steps),
            dict(self.arrays),
            frozenset(self._outside),
            self.constants,
            self._draws,
            result,
        )
