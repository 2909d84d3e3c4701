"""A text summary of a model: its size, its cost, its parameters layer by layer."""

from math import prod

from tinyvit.engine.cuda.plan import Options, Update, plan_step
from tinyvit.engine.cuda.support import unsupported
from tinyvit.engine.cuda.workspace import plan_workspace
from tinyvit.model import OFFICIAL, SMALL, ViTConfig, layout, preset, usual_name
from tinyvit.model.cost import activation_bytes, multiply_adds, parameter_count
from tinyvit.support.errors import UserError
from tinyvit.support.figures import counted

PAPER = {"b": 86, "l": 307, "h": 632}  # Table 1 of the paper: millions of parameters
IMAGENET_IMAGES = 1_281_167  # training images of ImageNet (ILSVRC 2012)


def default_image(name: str) -> tuple[int, int]:
    """The image size and number of classes to describe a preset with: those of CIFAR-10 or ImageNet."""
    small = {usual_name(each).split("/")[0] for each in SMALL}
    return (32, 10) if usual_name(name).split("/")[0] in small else (224, 1000)


def presets_table() -> str:
    """All presets, one per line, with the number of parameters that Table 1 of the paper gives."""
    lines = [
        "model         image  classes  layers  width D    MLP  heads  parameters  paper  multiply-adds",
        "                                                                 (10^6)              (10^9)",
    ]
    for name in (*SMALL, *OFFICIAL):
        side, classes = default_image(name)
        config = preset(name, side, classes)
        size = name.split("/")[0]
        shape = (config.layers, config.width, config.mlp_width, config.heads)
        layers, width, mlp_width, heads = shape if config.has_transformer else ("-", config.width, "-", "-")
        lines.append(
            f"{usual_name(name):12} {side:>6} {classes:>8} {layers:>7} {width:>8} "
            f"{mlp_width:>6} {heads:>6} {parameter_count(config) / 1e6:>11.2f} "
            f"{PAPER.get(size, '-'):>6} {multiply_adds(config) / 1e9:>14.3f}"
        )
    lines += [
        "",
        "paper: Table 1 of 'An Image is Worth 16x16 Words', one figure per size; Ti and S came later.",
        "multiply-adds: a forward pass on one image; training costs three times that.",
    ]
    return "\n".join(lines)


def summary(config: ViTConfig, name: str) -> str:
    """A model's shape and cost, then its parameters layer by layer; one block stands for all of them."""
    (H, W), (h, w), P = config.image_size, config.grid, config.pixels_per_patch
    patches = f", {h} x {w} patches of {P} x {P}" if config.has_transformer else ""
    forward = multiply_adds(config)
    count, kept = parameter_count(config), activation_bytes(config)
    epoch = 3 * forward * IMAGENET_IMAGES
    facts = [
        ("images", f"{H} x {W} pixels{patches}"),
        *([("ResNet", _resnet(config))] if config.has_resnet else []),
        *(_transformer(config) if config.has_transformer else [("features", _pooling(config))]),
        ("classes", _classes(config)),
        ("parameters", f"{count:,}, {_bytes(4 * count)} in float32"),
        ("inference, an image", f"{_count(forward)} multiply-adds"),
        ("training, an image", f"{_count(3 * forward)}: backward costs twice as much as forward"),
        ("", f"{_bytes(kept)} kept for the backward pass, in float32"),
        ("ImageNet, an epoch", f"{_count(epoch)}: {_time(epoch / 1e12)} at 10^12 multiply-adds per second"),
    ]
    if not unsupported(config):
        facts += _cuda_engine(config)
    lines = [name, "", *(f"{label:20}{text}" for label, text in facts), ""]
    return "\n".join([*lines, *_layers(config)])


def _cuda_engine(config: ViTConfig, batch: int = 128) -> list[tuple[str, str]]:
    """The memory of a training step on a GPU, and the arrays that take most of it."""
    try:
        plan = plan_step(config, batch, Options("bf16", update=Update("adamw")))
    except UserError:  # the kernels cannot take that many of these images at a time
        return []
    workspace = plan_workspace(plan)
    largest = (f"{name.removeprefix('blocks.')} {_bytes(size)}" for name, size in workspace.largest(4))
    return [
        (
            f"GPU, {batch} images",
            f"{plan.launches} launches a step, {_bytes(plan.bytes_moved)} moved, in bfloat16",
        ),
        ("", f"workspace of {_bytes(workspace.size)}, most of it in {', '.join(largest)}"),
    ]


_ACTIVATIONS = {form: f"{form} GELU" for form in ("tanh", "exact", "quick")}
_ACTIVATIONS |= {"silu": "SiLU", "relu": "ReLU"}


def _transformer(config: ViTConfig) -> list[tuple[str, str]]:
    in_other_rows = ("class_token", "registers", "merge_after", "pool", "gelu", "position", "position_on")
    besides = [name.replace("_", " ") for name in config.later_parts if name not in in_other_rows]
    return [
        ("tokens", f"{config.tokens}{_including(config)}"),
        (
            "shape",
            f"{config.layers} layers, width {config.width}, MLP {config.mlp_width}, "
            f"{counted(config.heads, 'head')} of width {config.width // config.heads}",
        ),
        ("positions", _positions(config)),
        ("arithmetic", f"{_ACTIVATIONS[config.gelu]}, epsilon {config.eps:g}, {_pooling(config)}"),
        *([("besides", ", ".join(besides))] if besides else []),
    ]


def _including(config: ViTConfig) -> str:
    """The tokens that are not patches, and the number of tokens once patches are merged."""
    others = ["the class token"] * config.has_token + ["one for distillation"] * (config.pool == "distilled")
    others += [counted(config.registers, "register")] * (config.registers > 0)
    including = f", including {' and '.join(others)}" if others else ""
    if not config.merge_after:
        return including
    fewer = config.tokens_of(config.merge_after)
    return (
        f"{including}; {fewer} after {counted(config.merge_after, 'block')}, where 2 x 2 patches are merged"
    )


def _classes(config: ViTConfig) -> str:
    if config.predicts_patches:
        return f"none: it predicts {config.classes:,} numbers for each patch"
    if config.predicts == "embedding":
        return f"none: it maps images to {config.classes:,} numbers, as its text side does with texts"
    return f"{config.classes:,}" if config.classes > 1 else "none: it has no head"


def _resnet(config: ViTConfig) -> str:
    h, w, channels = config.feature_map
    stages = f"stages of {', '.join(map(str, config.resnet))} units" if config.resnet else "the root alone"
    return f"{stages}; its map of {h} x {w} has {channels:,} channels"


def _positions(config: ViTConfig) -> str:
    kinds = {
        "1d": "a learned vector for each token",
        "2d": "a learned vector for each row and each column of patches",
        "sincos": "fixed sines and cosines of row and column",
        "relative": "a learned vector for each offset between two tokens",
        "bias": "a learned score for each offset in the plane and each head",
        "none": "none",
    }
    places = {"stem": "at the stem", "blocks": "in every block", "shared": "the same in every block"}
    return ", ".join(filter(None, (kinds[config.position], places.get(config.position_at or ""))))


def _pooling(config: ViTConfig) -> str:
    pooled = {
        "token": "class token",
        "mean": "mean of the patches",
        "both": "class token and mean of the patches",
        "distilled": "two heads",
        "attention": "attention pooling",
    }[config.pool]
    if config.predicts_patches:
        pooled = "a head for every patch"
    if not config.has_transformer:
        pooled = f"mean of the map, of width {config.width}"
    return f"{pooled}, pre_logits {config.pre_logits}" if config.pre_logits else pooled


def _layers(config: ViTConfig) -> list[str]:
    specs = layout(config)
    block = [spec for spec in specs if spec.name.startswith("blocks.0.")]
    rows = [("parameter", "shape", "numbers")]
    for spec in specs:
        if spec in block[:1]:
            each = sum(prod(row.shape) for row in block)
            rows.append((f"blocks.i, {config.layers} in all", "", f"{config.layers} x {each:,}"))
        if spec in block or not spec.name.startswith("blocks."):
            name = spec.name.replace("blocks.0.", "  ")
            rows.append((name, " x ".join(map(str, spec.shape)), f"{prod(spec.shape):,}"))
    rows.append(("total", "", f"{parameter_count(config):,}"))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    return [f"{a:{widths[0]}}  {b:{widths[1]}}  {c:>{widths[2]}}" for a, b, c in rows]


def _count(value: float) -> str:
    """17.6 G, 853 M, 67.5 P."""
    return _scaled(value).rstrip()


def _bytes(value: float) -> str:
    return _scaled(value) + "B"


def _scaled(value: float) -> str:
    """A number with three digits, a space, and the letter for a power of 1000."""
    powers = 0
    while value >= 999.5 and powers < 6:
        value, powers = value / 1000, powers + 1
    digits = 0 if value >= 99.95 or not powers else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {('', *'kMGTPE')[powers]}"


def _time(seconds: float) -> str:
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} seconds"
