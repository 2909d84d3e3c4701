"""The CUDA engine: a whole step planned once, then carried out by fused kernels and cuBLAS, as one graph.

The plan of a step (see plan/) is made from the numbers of the model for each number of images that occurs. It
is compiled, bound to memory and captured once, and then costs the host one small copy and one call.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.data import BatchPlan, make_batch
from tinyvit.engine.cuda.calls.augment import fits
from tinyvit.engine.cuda.calls.noise import noise_keys
from tinyvit.engine.cuda.compiled import Kernels
from tinyvit.engine.cuda.cublas import WORKSPACE_BYTES, Cublas
from tinyvit.engine.cuda.plan import Options, Plan, Update, plan_inference, plan_step
from tinyvit.engine.cuda.plan.draft import most_draws
from tinyvit.engine.cuda.plan.update import muon_fits
from tinyvit.engine.cuda.program import Graphs, Memory, Program, graphs_wanted
from tinyvit.engine.cuda.support import multiprocessors, shared_limit
from tinyvit.engine.cuda.uploads import Uploads, plan_tables
from tinyvit.engine.cuda.workspace import plan_workspace
from tinyvit.engine.reference import ReferenceEngine, Training
from tinyvit.model import Params, ViTConfig
from tinyvit.model.passes import check_images
from tinyvit.objectives import Objective, loss_and_grads
from tinyvit.ops import Corruption, Noise
from tinyvit.optim.adam import corrections

_MOST_PROGRAMS = 16  # for as many numbers of images; the one that was not used for longest gives way


class CudaEngine(ReferenceEngine):
    """The interface of ReferenceEngine, for CuPy arrays of float32 and whatever support.supports allows.

    precision is fp32, tf32 (products in TF32) or bf16 (activations and products in bfloat16); parameters,
    gradients and sums are float32 always. graphs False launches kernel after kernel. After a step, the
    gradients are those before clipping.

    Some updates run outside the plan, array by array: those of several ranks, whose gradients are summed
    first; of an optimiser without kernels, such as one of a subset of the parameters; and Muon's in models
    whose parts lie at odd places (see plan.update).
    """

    def __init__(
        self,
        config: ViTConfig,
        params: Params,
        objective: Objective = loss_and_grads,
        training: Training | None = None,
        precision: str = "fp32",
        graphs: bool | None = None,
    ):
        super().__init__(config, params, objective, training)
        self.precision, self.label = precision, f"CUDA kernels, {precision}"
        self._objective_options = getattr(objective, "keywords", {})  # Options has the same names
        self._graphs = Graphs(graphs_wanted() if graphs is None else graphs, self._tell)
        self._draws = max(config.dropout, config.attention_dropout, config.drop_path) > 0
        xp = array_module(params.flat)
        self._card = {"multiprocessors": multiprocessors(xp), "shared_limit": shared_limit(xp)}
        self._kernels, self._memory = Kernels(xp), Memory(xp)
        self._cublas = Cublas(precision, xp.empty(WORKSPACE_BYTES, dtype="uint8"))
        self._programs: OrderedDict[tuple, Program] = OrderedDict()
        self._uploads: Uploads | None = None
        self._memory.keep("params", params.flat)
        self._loss = xp.zeros(1, dtype="float32")
        self._memory.keep("loss", self._loss)
        self._dataset: tuple[int, ...] | None = None
        self._update: Update | None = None
        if training:
            self._keep_training(training)

    def compile(self) -> None:
        """Compile the kernels of training, if it is for that, and of predictions. Raises KernelError.

        It would be done when a batch first comes; what is compiled does not depend on the number of images.
        """
        plans = [plan_inference(self.config, 1, self._options(trains=False))]
        if self.trains:
            options = self._options(noise=self._draws, update=self._update, **self._own_batches())
            plans.append(plan_step(self.config, 1, options))
        self._kernels.compile(tuple(step for plan in plans for step in plan.steps))

    def step(self, plan: BatchPlan, lr: float) -> tuple[Array, Array]:
        """See ReferenceEngine.step."""
        t, config, parts = self.training, self.config, self.training.own_parts(plan)
        mixes, own = plan.mixing is not None, bool(self._dataset)  # own: the kernels make the batch
        for k, part in enumerate(parts):
            options = self._options(
                noise=self._draws,
                dataset=self._dataset,
                mixing=own and mixes,
                erasing=own and plan.erasing is not None,
                operations=own * plan.operations.shape[1],
                soft=not own and mixes and not config.predicts_patches,
                share=len(part) / len(plan),
                fresh=k == 0,
                update=self._update if k == len(parts) - 1 else None,
            )
            program = self._program(plan_step, len(part), options)
            tables = plan_tables(part, *config.image_size) if own else {}
            if not own:
                dtype = np.dtype("float32")
                batch = make_batch(t.images, t.labels, part, dtype, config.image_size, config.classes)
                self._give(program.plan, *batch)
            self._send(program.plan, part.noise(), self._rates(lr, plan.step), tables)
            program.run()
        loss = t.ranks.sum(self._loss.copy().reshape(()))
        norm = self._uploads.norm.copy() if self._update else self._update_outside(lr, plan.step)
        if t.average:
            t.average.update(plan.step)
        return loss, norm

    def loss_and_grads(
        self,
        images: Array,
        targets: Array,
        noise: Noise | None = None,
        share: float = 1.0,
        fresh: bool = False,
    ) -> Array:
        """See ReferenceEngine.loss_and_grads."""
        check_images(self.config, images)
        B, C = len(images), self.config.classes
        has_labels = not self.config.predicts_patches  # otherwise the targets are not read
        if has_labels and targets.shape not in ((B,), (B, C)):
            raise ValueError(f"targets have shape {targets.shape}, expected ({B},) or ({B}, {C})")
        if has_labels and targets.ndim == 1 and targets.dtype.kind not in "iu":
            raise ValueError(f"labels are {targets.dtype}, expected whole numbers")
        noisy, soft = self._draws and noise is not None, has_labels and targets.ndim == 2
        options = self._options(noise=noisy, soft=soft, share=share, fresh=fresh)
        program = self._program(plan_step, B, options)
        self._give(program.plan, images, targets)
        self._send(program.plan, noise, (), {})
        self._loss.fill(0)
        program.run()
        return self._loss.copy().reshape(())

    def logits(self, images: Array, corruption: Corruption | None = None) -> Array:
        """See ReferenceEngine.logits."""
        return self._infer(images, plan_inference, corruption)

    def features(self, images: Array) -> Array:
        """See ReferenceEngine.features."""
        return self._infer(images, _plan_features)

    @property
    def latest(self) -> Program:
        """The program that was used last, for measurements."""
        return next(reversed(self._programs.values()))

    def summary(self, batch: int) -> str:
        """One-line summary of how a batch of this size is computed, and of each rank's workspace."""
        options = self._options(update=self._update, **self._own_batches())
        largest = -(-batch // (self.ranks.size * self.training.accumulate))  # of the parts of a batch
        size = plan_workspace(plan_step(self.config, largest, options)).size
        return f"{self.label}, workspace of {size / 1e6:,.0f} MB"

    def _keep_training(self, training: Training) -> None:
        """Have the training set and the optimiser's state in memory."""
        xp, optimizer = self._memory.xp, training.optimizer
        keep = self._memory.keep
        as_they_are = training.images.shape[1:] == (*self.config.image_size, 3) and self.config.channels == 3
        H, W = training.images.shape[1:3]
        fit = not training.operations or fits(H, W, shared_limit(xp))
        if as_they_are and fit and not training.by_arrays:  # or make_batch must make every batch
            self._dataset = tuple(training.images.shape)
            keep("images", xp.ascontiguousarray(training.images))
            keep("labels", training.labels.astype("int32"))
        kernels = optimizer.kernels
        if training.ranks.size > 1 or not kernels or (kernels == "muon" and not muon_fits(self.config)):
            return
        for name, array in optimizer.state.items():
            keep(name, array)
        self._update = Update(kernels, clip=training.clip, **optimizer.hyperparameters)

    def _update_outside(self, lr: float, step: int) -> Array:
        """Sum over ranks, clip and update the parameters array by array; returns the norm of the gradient."""
        norm = self.training.sum_and_clip(self.grads)
        self.training.optimizer.step(self.grads, lr, step)
        return norm

    def _own_batches(self) -> dict[str, Any]:
        """Options for making the batches, if the kernels do; the number of operations does not matter."""
        return {"dataset": self._dataset, "operations": int(self.training.operations)}

    def _tell(self, note: str) -> None:
        self.note = note

    def _options(self, **numbers: Any) -> Options:
        return Options(self.precision, **self._card, **(numbers | self._objective_options))

    def _program(self, make: Callable[..., Plan], batch: int, options: Options) -> Program:
        """The program for this many images, ready to run."""
        key = make, batch, options
        if key not in self._programs:
            if len(self._programs) == _MOST_PROGRAMS:
                self._programs.popitem(last=False)
            self._programs[key] = self._new_program(make(self.config, batch, options), batch)
        self._programs.move_to_end(key)
        return self._programs[key]

    def _new_program(self, plan: Plan, batch: int) -> Program:
        if "grads" in plan.arrays:
            self._memory.keep("grads", self.grads.flat)
            rounds = plan.arrays["operations"].shape[0] if "operations" in plan.arrays else 0
            self._keep_uploads(batch, rounds)
        for name in ("pixels", "targets", "given.chosen", "given.source"):
            if name in plan.arrays:
                self._memory.room(plan.arrays[name])
        program = Program(plan, self._kernels, self._cublas, self._memory, self._graphs)
        for other in self._programs.values():
            other.release()
        self._memory.reserve(program.workspace)
        return program

    def _keep_uploads(self, batch: int, rounds: int) -> None:
        """Make room for the inputs of steps, for batches of up to this many images and operations."""
        if self._uploads:
            held = self._uploads.images, self._uploads.rounds
            batch, rounds = max(batch, held[0]), max(rounds, held[1])
            if (batch, rounds) == held:
                return
            self._uploads.finish()
        self._uploads = Uploads(self._memory.xp, most_draws(self.config), batch, rounds)
        for name, array in self._uploads.arrays.items():
            self._memory.keep(name, array)

    def _send(
        self,
        plan: Plan,
        noise: Noise | None,
        controls: tuple[float, ...],
        tables: dict[str, np.ndarray],
    ) -> None:
        """Upload what the plan needs to be told."""
        keys = noise_keys(noise.seed, noise.step, noise.first, plan.draws) if plan.draws else None
        self._uploads.send(controls, keys, tables)

    def _give(self, plan: Plan, images: Array, targets: Array | None = None) -> None:
        """Copy a batch to where the plan expects it."""
        self._memory.room(plan.arrays["pixels"])[...] = images
        if targets is not None and "targets" in plan.arrays:
            self._memory.room(plan.arrays["targets"])[...] = targets

    def _rates(self, lr: float, step: int) -> tuple[float, ...]:
        """The learning rate and the factors of Adam, if the plan needs them: see calls/optimizer.py."""
        if not self._update:
            return ()
        if self._update.kind == "sgd":
            return (lr,)
        return lr, *corrections(self._update.betas, lr, step)

    def _infer(self, images: Array, make: Callable[..., Plan], corruption: Corruption | None = None) -> Array:
        check_images(self.config, images)
        given = corruption.chosen.shape[1] if corruption else 0
        program = self._program(make, len(images), self._options(trains=False, given=given))
        self._give(program.plan, images)
        for name, array in corruption._asdict().items() if corruption else ():
            self._memory.room(program.plan.arrays[f"given.{name}"])[...] = array
        program.run()
        result = program.plan.result
        found = program.array(result)
        if result.dtype == "float32":
            return found.copy()
        return (found.astype("uint32") << 16).view("float32")  # the upper half of a float32 is a bfloat16


def _plan_features(config: ViTConfig, batch: int, options: Options) -> Plan:
    return plan_inference(config, batch, options, "features")
