"""The launches of kernels/loss.cu: losses, their gradients, and logits."""

from tinyvit.engine.cuda.calls.signature import WARP, blocks, launch
from tinyvit.engine.cuda.launch import Buffer, Launch

_ROWS = 8  # of a block: ROWS of the kernels


def cross_entropy(
    logits: Buffer,
    bias: Buffer,
    targets: Buffer,
    plan: Buffer | None,
    mixing: Buffer | None,
    smoothing: float,
    share: float,
    losses: Buffer,
    dlogits: Buffer,
    partials: Buffer,
) -> Launch:
    """The loss of every row and the gradient of the logits, both times share / B.

    logits (B, C), without their bias (C,), and dlogits (B, C). targets are int32 labels, those of the whole
    training set with a plan (4, S) that chooses among them, or (B,) without; or float32 probabilities (B, C),
    without a plan. plan and mixing are as in make_patches. losses (B,) float32; partials float32 (P, C), for
    P = cross_entropy_partials(B), has the column sums of dlogits.

    If the bias is G times as long, (G C,), the rows are G predictions for each of B / G patches: with labels
    and without a plan. partials is then (P, G C), for P = cross_entropy_partials(B / G).
    """
    B, C = logits.shape
    G = bias.size // C
    soft = targets.dtype == "float32"
    if soft and plan is not None:
        raise ValueError("a plan chooses labels: it cannot choose rows of probabilities")
    chosen = () if plan is None else (plan.view(0, B if mixing is None else B + 1),)
    shares = () if mixing is None else (mixing.view(5 * B, B),)
    read = targets.nbytes if soft else B * 4 + sum(table.nbytes for table in (*chosen, *shares))
    labels, probabilities = (None, targets) if soft else (targets, None)
    inputs = logits, bias, labels, probabilities, plan, mixing, 1 - smoothing, smoothing / C, share / B
    args, grid = (*inputs, losses, dlogits, partials, B // G, C), (blocks(B // G, _ROWS), G)
    moved = sum(each.nbytes for each in (logits, bias, losses, dlogits, partials)) + read
    return launch(f"cross_entropy<{logits.c_type}>", grid, args, _ROWS * WARP, moved=moved)


def cross_entropy_partials(images: int) -> int:
    """P of cross_entropy: into how many chunks it cuts that many rows."""
    return blocks(images, _ROWS)


def add_losses(losses: Buffer, loss: Buffer, accumulate: bool) -> Launch:
    """loss (1,) becomes the sum of losses (B,); with accumulate, that is added to it."""
    in_place = (loss,) if accumulate else ()
    return launch("add_losses", 1, (losses, loss, losses.size, accumulate), in_place=in_place)


def add_bias(logits: Buffer, bias: Buffer, out: Buffer) -> Launch:
    """Logits for predictions, out = logits + bias: logits (B, C), bias (C,), out float32 (B, C)."""
    return launch(f"add_bias<{logits.c_type}>", blocks(logits.size), (logits, bias, out, *logits.shape))


def colour_classes(patches: Buffer, classes: Buffer, side: int, patch_size: int) -> Launch:
    """The colours of patches (R, P*P*C), float32, cut into side x side parts: classes (R*side*side,)."""
    channels = patches.shape[1] // patch_size**2
    args = patches, classes, classes.size, side, patch_size, channels
    return launch("colour_classes", blocks(classes.size, _ROWS), args)


def squared_error(
    y: Buffer, bias: Buffer, truth: Buffer, share: float, losses: Buffer, dy: Buffer, partials: Buffer
) -> Launch:
    """The mean squared error of y (R, C), which lacks its bias (C,), from truth (R, C), times share.

    losses (P,), for P = cross_entropy_partials(R), are parts of it, dy (R, C) is its gradient, and partials
    (P, C) has the column sums of that.
    """
    R, C = y.shape
    args = y, bias, truth, share / y.size, losses, dy, partials, R, C
    return launch(f"squared_error<{y.c_type}>", losses.size, args)
