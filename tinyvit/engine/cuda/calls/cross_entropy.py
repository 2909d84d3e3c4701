"""The launches of kernels/cross_entropy.cu and logits.cu: the loss with its gradient, and logits."""

from tinyvit.engine.cuda.calls.signature import THREADS, blocks, launch
from tinyvit.engine.cuda.launch import Buffer, Launch

_ROWS = 8  # of a block: ROWS of the kernel


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
    return launch(
        "cross_entropy",
        f"cross_entropy<{logits.c_type}>",
        (blocks(B // G, _ROWS), G),
        (_ROWS * 32,),
        (
            *(logits, bias, None if soft else targets, targets if soft else None, plan, mixing),
            *(1 - smoothing, smoothing / C, share / B, losses, dlogits, partials, B // G, C),
        ),
        moved=sum(each.nbytes for each in (logits, bias, losses, dlogits, partials)) + read,
    )


def cross_entropy_partials(images: int) -> int:
    """P of cross_entropy: into how many chunks it cuts that many rows."""
    return blocks(images, _ROWS)


def add_losses(losses: Buffer, loss: Buffer, accumulate: bool) -> Launch:
    """loss (1,) becomes the sum of losses (B,); with accumulate, that is added to it."""
    args, in_place = (losses, loss, losses.size, accumulate), (loss,) if accumulate else ()
    return launch("cross_entropy", "add_losses", (1,), (THREADS,), args, in_place)


def add_bias(logits: Buffer, bias: Buffer, out: Buffer) -> Launch:
    """Logits for predictions, out = logits + bias: logits (B, C), bias (C,), out float32 (B, C)."""
    grid, args = (blocks(logits.size),), (logits, bias, out, *logits.shape)
    return launch("logits", f"add_bias<{logits.c_type}>", grid, (THREADS,), args)
