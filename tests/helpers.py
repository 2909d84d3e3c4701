"""Hypothesis strategies for these tests, and the comparison of two results."""

from dataclasses import replace
from functools import partial

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

from tinyvit.model import ViTConfig, stages
from tinyvit.model.config import PLACES, POOLS, POSITIONS, WITHOUT_TRANSFORMER, places_of, resnet_channels
from tinyvit.model.later.rotary import DINOV3, Rotary
from tinyvit.objectives import loss_and_grads, masked_patches
from tinyvit.ops import GELU_FORMS
from tinyvit.support.errors import UserError


def seeds():
    """Seeds of random arrays: a failing test names the one that made it fail."""
    return st.integers(0, 2**32 - 1)


def dtypes():
    """The two dtypes that tinyvit computes in."""
    return st.sampled_from(["float32", "float64"])


def _fortran(x):
    return np.asfortranarray(x)


def _every_other(x):
    wide = np.full([2 * n for n in x.shape], 99, dtype=x.dtype)
    view = wide[(..., *(slice(None, None, 2) for _ in x.shape))]
    view[...] = x
    return view


def _backwards(x):
    return np.flip(np.flip(x).copy())


def layouts():
    """Ways to put the same numbers elsewhere in memory: functions from an array to an equal one."""
    return st.sampled_from([np.ascontiguousarray, _fortran, _every_other, _backwards])


def stored(path):
    """The arrays of an .npz file, by name."""
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


def distance(a, b):
    """The distance of a from b, relative to the size of b: |a - b| / |b|."""
    assert a.shape == b.shape
    return float(np.linalg.norm(a - b) / max(np.linalg.norm(b), 1e-300))


def some_images(rng, count, height, width):
    """Images of a few or of all bytes: smooth, noisy, or all the same."""
    middle, spread = rng.uniform(0, 256, (count, 1, 1, 3)), rng.choice([0, 3, 40, 200], (count, 1, 1, 1))
    slope = np.linspace(-1, 1, width)[:, None] * rng.choice([0, 60], (count, 1, 1, 1))
    noise = spread * rng.standard_normal((count, height, width, 3))
    return np.clip(middle + slope + noise, 0, 255).astype(np.uint8)


def stage_of(config, name, **options):
    """A stage of a model: see model.stages for the options."""
    return next(each for each in stages(config, **options) if each.name == name)


def tiny_config(**changes):
    """A model small enough for hundreds of forward passes a second."""
    numbers = {
        "image_size": 8,
        "patch_size": 4,
        "width": 12,
        "mlp_width": 20,
        "heads": 3,
        "layers": 2,
        "classes": 5,
    }
    return ViTConfig(**(numbers | changes))


def small_models(**choices):
    """Random small models, dropout and stochastic depth on or off; choices are of other or further fields.

    The LayerNorm of two or three nearly equal numbers blows rounding up: hence a width of four or more.
    """
    rates = st.sampled_from([0.0, 0.3])

    def build(heads, head_width, **numbers):
        width = heads * head_width * {"sincos": 4, "2d": 2}.get(numbers.get("position"), 1)  # as they need
        return tiny_config(heads=heads, width=width, **numbers)

    usual = {
        "heads": st.integers(1, 3),
        "head_width": st.integers(4, 6),
        "mlp_width": st.integers(1, 20),
        "layers": st.integers(1, 3),
        "image_size": st.sampled_from([4, 8, (8, 4), (4, 12)]),
        "pool": st.sampled_from(["token", "mean"]),
        "pre_logits": st.sampled_from([0, 7]),
        "gelu": st.sampled_from(["tanh", "exact"]),
        "dropout": rates,
        "attention_dropout": rates,
        "drop_path": rates,
    }
    return st.builds(build, **usual | choices)


def learnable(config, smoothing=0.0):
    """The configuration, with the head that its objective needs, and the objective."""
    if not config.predicts_patches:
        return config, partial(loss_and_grads, smoothing=smoothing)
    config = replace(config, classes=config.pixels_per_patch**2 * config.channels)
    return config, partial(masked_patches.loss_and_grads, target="pixels", corrupt=0.5)


def random_batch(config, count, rng, dtype="float64"):
    """Images (count, H, W, 3) around 0, and labels (count,)."""
    images = rng.standard_normal((count, *config.image_size, config.channels)).astype(dtype)
    return images, rng.integers(0, config.classes, count)


# Values of every field of ViTConfig: a test asks that none is missing.
_USUAL = {
    "image_size": st.sampled_from([8, (8, 4), (4, 12)]),
    "patch_size": st.sampled_from([2, 4]),
    "mlp_width": st.integers(1, 20),
    "heads": st.integers(1, 3),
    "layers": st.integers(1, 3),
    "classes": st.integers(2, 6),
    "pool": st.sampled_from(POOLS),
    "final_norm": st.sampled_from(["tokens", "tokens", "pooled", "none"]),
    "position": st.sampled_from(["1d"] * 5 + [*POSITIONS]),
    "position_at": st.sampled_from([None, None, *PLACES]),
}
_FURTHER = {
    "pre_logits": st.just(7),
    "gelu": st.sampled_from(GELU_FORMS),
    "eps": st.sampled_from([1e-3, 1e-12]),
    "dropout": st.just(0.3),
    "attention_dropout": st.just(0.3),
    "drop_path": st.just(0.3),
    "channels": st.sampled_from([1, 2, 4]),
    "resnet": st.sampled_from([(), (1,), (1, 1)]),
    "resnet_form": st.just("timm"),
    "predicts": st.sampled_from(["patches", "embedding"]),
    "class_token": st.booleans(),
    "registers": st.integers(1, 2),
    "position_on": st.sampled_from(["patches", "all"]),
    "rotary": st.sampled_from([DINOV3, Rotary(), Rotary(columns_first=True), Rotary(learned=True)]),
    "pre_norm": st.just(True),
    "patch_bias": st.just(False),
    "qkv_bias": st.sampled_from(["qv", "none"]),
    "qk_norm": st.just(True),
    "attention_norm": st.just(True),
    "gated": st.just(True),
    "mlp_norm": st.just(True),
    "layer_scale": st.just(0.5),
    "pool_heads": st.just(2),
    "pool_mlp_width": st.just(5),
    "pool_all": st.just(True),
    "head_bias": st.just(False),
    "causal": st.just(True),
    "merge_after": st.integers(1, 2),
    "patch_dropout": st.just(0.5),
}
_NEEDED = {
    "pool_all": {"pool": "attention"},
    "causal": {"pool": "mean"},
    "merge_after": {"layers": 3, "image_size": (16, 8)},
    "predicts": {"final_norm": "tokens"},
}
FIELDS_DRAWN = {*_USUAL, *_FURTHER, "width", "resnet_width", "resnet_groups"}


@st.composite
def any_models(draw, head_widths=(4, 5, 8)):
    """Small models of all kinds: any values of all fields of ViTConfig that it accepts together."""
    chosen = draw(st.lists(st.sampled_from(sorted(_FURTHER)), max_size=6, unique=True))
    fields = {name: draw(values) for name, values in _USUAL.items()}
    fields |= {name: draw(_FURTHER[name]) for name in chosen}
    for name in chosen:
        fields |= _NEEDED.get(name, {})
    if fields["position_at"] not in places_of(fields["position"]):
        fields["position_at"] = None
    if "resnet" in chosen:
        fields |= {"resnet_width": 4, "resnet_groups": 2, "image_size": (16, 8), "patch_size": 1}
        if fields["resnet"] and draw(st.booleans()):
            return _resnet_alone(fields)
    divisor = 4 if "rotary" in chosen or fields["position"] in ("2d", "sincos") else 1
    head_width = draw(st.sampled_from([width for width in head_widths if width % divisor == 0]))
    try:
        return ViTConfig(width=fields["heads"] * head_width, **fields)
    except UserError:
        reject()


def _resnet_alone(fields):
    """A ResNet without a Transformer, with those of the fields that it can have."""
    needed = {name: value for name, (value, _) in WITHOUT_TRANSFORMER.items()}
    kept = ("classes", "pre_logits", "channels", "resnet", "resnet_form", "image_size")
    width = resnet_channels(fields["resnet"], 4)
    others = {name: fields[name] for name in kept if name in fields}
    return ViTConfig(**needed, **others, width=width, resnet_width=4, resnet_groups=2)
