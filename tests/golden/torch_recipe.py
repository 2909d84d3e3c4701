"""Training by a recipe of tinyvit's, written in PyTorch by its own standard means. Needs torch.

Nothing here is computed by tinyvit but the first values of the parameters: the model is that of torch_vit.py,
gradients are autograd's, the optimisers, clipping and the average of the weights are PyTorch's, and so are
all random numbers, from the order of the images to dropout.
"""

import contextlib
import math
from dataclasses import fields
from unittest import mock

import torch
from torch import nn
from torch.nn import functional
from torch.optim.lr_scheduler import LambdaLR
from torch.optim.swa_utils import AveragedModel

from tests.golden.torch_augment import augmented, batches, normalised
from tests.golden.torch_vit import ViT, load
from tinyvit.model import is_resnet
from tinyvit.support.errors import UserError
from tinyvit.training.learning import ALL_PATCHES
from tinyvit.training.settings import Settings

# What is done here, or has no bearing on what is learned: any other setting must be the usual one.
FOLLOWED = """
    dataset data_dir image_size only validation fraction seed
    model layers width mlp_width heads merge_after pool init whiten dropout drop_path
    epochs steps warmup_epochs warmup_steps batch_size optimizer lr weight_decay decay clip ema smoothing
    patch_dropout crop_padding flip mixup cutmix erase repeats
    augment_ops augment_magnitude
    recipe log accumulate evaluate_every precision device threads
"""
OPTIMIZERS = ("adamw", "muon")


def check(settings):
    """Raise UserError unless PyTorch's side does all that the settings ask for."""
    usual = Settings(dataset=settings.dataset, model=settings.model)
    names = [field.name for field in fields(Settings) if field.name not in FOLLOWED.split()]
    if odd := [name for name in names if getattr(settings, name) != getattr(usual, name)]:
        raise UserError(
            f"the setting {odd[0]} is {getattr(settings, odd[0])!r}, which PyTorch's side does not have: "
            "choose another recipe, or add it to tests/golden/torch_recipe.py."
        )
    if is_resnet(settings.model) or "+" in settings.model:
        raise UserError(f"{settings.model} has a ResNet, PyTorch's side none: choose another recipe.")
    if settings.optimizer not in OPTIMIZERS:
        raise UserError(f"the optimizer is {settings.optimizer}, expected {' or '.join(OPTIMIZERS)}.")
    if settings.optimizer == "muon" and not hasattr(torch.optim, "Muon"):
        raise UserError(f"PyTorch {torch.__version__} has no torch.optim.Muon: install 2.9 or newer.")


def unrounded_iteration():
    """Within this context, Muon's iteration computes in the dtype of the parameters, not in bfloat16."""
    return mock.patch.object(torch.Tensor, "bfloat16", torch.Tensor.clone)


class TorchTraining:
    """A model in PyTorch, with what it takes to train it as the settings say for a number of steps.

    The parameters start from those of tinyvit, params, and have their dtype. rounded says whether the
    iteration of Muon computes in bfloat16, as PyTorch has it.
    """

    def __init__(self, settings, config, params, steps, warmup, rounded=True):
        self.settings = settings
        self.dtype = torch.from_numpy(params.flat[:0]).dtype
        self.iteration = contextlib.nullcontext if rounded else unrounded_iteration
        self.model = ViT(config).to(self.dtype)
        load(self.model, params)
        self.optimizers = make_optimizers(self.model, settings)
        factor = schedule(steps, warmup, settings.decay)
        self.schedulers = [LambdaLR(optimizer, factor) for optimizer in self.optimizers]
        self.average = None
        if settings.ema:
            self.average = AveragedModel(self.model, avg_fn=averaging(settings.ema))
            self.average.update_parameters(self.model)  # the first of all: a copy

    def step(self, images, targets):
        """One update; returns the loss before it.

        images (B, H, W, 3) are normalised; targets are labels (B,) or distributions (B, C).
        """
        self.model.train()
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        loss = functional.cross_entropy(self.model(images), targets, label_smoothing=self.settings.smoothing)
        loss.backward()
        if self.settings.clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        with self.iteration():
            for optimizer in self.optimizers:
                optimizer.step()
        for scheduler in self.schedulers:
            scheduler.step()
        if self.average:
            self.average.update_parameters(self.model)
        return loss.item()

    def train(self, data, epochs):
        """Train for so many epochs on a set of images, in batches that are all of the same size."""
        s, classes = self.settings, self.model.head.out_features
        pixels, labels = torch.from_numpy(data.images), torch.from_numpy(data.labels)
        steps = len(data) // s.batch_size
        for epoch in range(epochs):
            for k, chosen in enumerate(batches(len(data), s.batch_size, s.repeats)):
                drops = epoch * steps + k < (1 - ALL_PATCHES) * epochs * steps
                self.model.patch_dropout = s.patch_dropout if drops else 0.0
                images = normalised(pixels[chosen], self.dtype)
                self.step(*augmented(images, labels[chosen], s, classes))

    @torch.inference_mode()
    def evaluate(self, data, count=500):
        """Accuracy (0..1) and mean cross-entropy on a set of images, of the average if there is one."""
        model = (self.average or self.model).eval()
        pixels = torch.from_numpy(data.images)
        logits = torch.cat([model(normalised(part, self.dtype)) for part in pixels.split(count)])
        labels = torch.from_numpy(data.labels)
        accuracy = (logits.argmax(dim=1) == labels).double().mean().item()
        return accuracy, functional.cross_entropy(logits.double(), labels).item()


def make_optimizers(model, settings):
    """AdamW, and Muon for the matrices inside the blocks if the settings say so; only matrices decay."""
    inside = [p for p in model.blocks.parameters() if p.ndim == 2]
    hidden = set(inside) if settings.optimizer == "muon" else set()
    rest = [p for p in model.parameters() if p not in hidden]
    matrices = {p for p in rest if p.ndim > 1 and p is not model.position}
    groups = [
        {"params": [p for p in rest if p in matrices], "weight_decay": settings.weight_decay},
        {"params": [p for p in rest if p not in matrices], "weight_decay": 0.0},
    ]
    optimizers = [torch.optim.AdamW(groups, lr=settings.lr)]
    if hidden:
        more = {"weight_decay": settings.weight_decay, "adjust_lr_fn": "match_rms_adamw"}
        optimizers.append(torch.optim.Muon(inside, lr=settings.lr, **more))
    return optimizers


def schedule(steps, warmup, decay):
    """The factor of the learning rate after a number of steps: linear warm-up, then the decay."""
    fall = {
        "cosine": lambda share: 0.5 + 0.5 * math.cos(math.pi * share),
        "linear": lambda share: 1 - share,
        "constant": lambda share: 1.0,
    }[decay]

    def factor(done):
        if done < warmup:
            return (done + 1) / warmup
        return fall((done - warmup) / max(steps - warmup, 1))

    return factor


def averaging(decay):
    """The function by which AveragedModel averages in the weights after an update; its decay rises."""

    def average(before, now, count):
        return torch.lerp(now, before, min(decay, (1 + int(count)) / (10 + int(count))))

    return average
