"""Initial parameters, drawn as in the official code, or with mimetic attention.

Mimetic initialisation (Trockman and Kolter 2023, arXiv 2305.09828): attention starts as it tends to end.

In a ViT that was trained on very many images, two products of matrices have a clear diagonal: positive in
that of queries and keys, negative in that of values and output. On a small data set a ViT hardly finds its
way there. So these matrices are drawn with such products, and all others as usual:

    Wq Wk^T = 0.7 Z + 0.7 I        for each head                 (D, D), of which rank K is kept      (1)
    Wv Wo   = 0.4 Z - 0.4 I        for all heads of a block      (D, D)                               (2)

Each Z is drawn anew: normal, with variance 1/D. The singular values of a product M = U S V^T are shared
equally by its two factors,

    M = (U S^1/2) (S^1/2 V^T)                                                                         (3)

A head has only K = D/H columns for its query and key. They get the K largest singular values, which is the
nearest that a product of such matrices can come to (1).

What this does. With (1), the score of tokens n_i and n_j, normalised to a squared length of about D, is

    S_ij = n_i Wq Wk^T n_j^T / sqrt(K) = b n_i . n_j / sqrt(K) + noise                                (4)

where b is what rank K keeps of the 0.7: about 0.4 with three heads, 0.2 with six. So a token attends to those
that resemble it. Which ones do at first is largely for positions to say: learned ones start as sines and
cosines, where e_i . e_j, a sum of cosines of the distances in rows and in columns, is largest for close
patches. Every head thus starts by looking around each patch, and at patches of its colour: as a convolution
does, if far less sharply. With (2), a token loses 0.4 of the average of what it attends to,

    x_i - 0.4 (sum over j of A_ij n_j) + noise                                                        (5)

What neighbours have in common shrinks, what sets a patch apart stays: attention does not begin by blurring.
"""

import numpy as np

from tinyvit import ops
from tinyvit.model.config import ViTConfig
from tinyvit.model.layout import layout
from tinyvit.model.params import Params
from tinyvit.support.errors import UserError

INITS = ("official", "mimetic")


def initialise(config: ViTConfig, seed: int = 0, dtype: str = "float32", init: str = "official") -> Params:
    """Initial parameters, for the same seed the same on every machine, mimetic ones to within rounding.

    Patch embedding and pre_logits: LeCun normal. Class token, biases, head: zeros. Position embedding: normal
    with standard deviation 0.02. q, k, v and output matrices: Xavier-uniform, each as a separate D x D
    matrix. MLP: Xavier-uniform, with normal biases of standard deviation 1e-6. LayerNorm: gain 1, offset 0.
    A hybrid's kernels: LeCun normal. GroupNorm: gain 1, but 0 in the last of each unit, offset 0.

    init is one of INITS. With 'mimetic', the matrices of attention and the positions differ: see above.
    Raises UserError for another name, or if the model cannot have such values.
    """
    if init not in INITS:
        raise UserError(f"init is {init!r}, expected one of {', '.join(INITS)}.")
    bits = np.random.Philox(seed)
    mimetic_rng = np.random.Generator(bits.jumped())  # numbers of its own: all others stay as they were
    rng = np.random.Generator(bits)
    params = Params.zeros(layout(config), dtype)
    for spec in params.rows:
        params[spec.name] = spec.init(rng, spec.shape)
    if init == "mimetic":
        make_mimetic(config, params, mimetic_rng)
    return params


# How much noise, and how much of the identity; the paper's section 3.
QUERY_KEY = (0.7, 0.7)
VALUE_OUTPUT = (0.4, -0.4)


def check_mimetic(config: ViTConfig) -> None:
    """Raise UserError if a model of this shape cannot have mimetic first values."""
    if not config.has_transformer:
        raise UserError(
            "mimetic first values are those of attention, which a ResNet does not have: choose the official "
            "ones, or another model."
        )
    if config.position in ("1d", "2d") and config.width % 4:
        raise UserError(
            f"with mimetic first values, positions start as sines and cosines, for which 4 must divide the "
            f"width, {config.width}: choose another width, or the official first values."
        )


def make_mimetic(config: ViTConfig, params: Params, rng: np.random.Generator) -> None:
    """Overwrite the matrices of attention, and the learned positions, with mimetic first values.

    The parameters are in main memory. A class token lies nowhere in the image, so its position stays as it
    is; so do relative positions, which are not vectors of tokens. Raises UserError as check_mimetic does. A
    singular value decomposition for each head takes its time in large models: two minutes for B/16 on a core.
    """
    check_mimetic(config)
    D, H = config.width, config.heads
    for i in range(config.layers):
        q, k, v = np.split(params[f"blocks.{i}.attn.qkv.weight"], 3, axis=1)  # views, (D, D) each
        heads = (np.split(matrix, H, axis=1) for matrix in (q, k))  # (D, K) each
        for wq, wk in zip(*heads, strict=True):
            wq[...], right = _factors(_near_identity(rng, D, *QUERY_KEY), D // H)  #             eq. 1
            wk[...] = right.T
        v[...], out = _factors(_near_identity(rng, D, *VALUE_OUTPUT), D)  #                      eq. 2
        params[f"blocks.{i}.attn.out.weight"] = out
    parts = [f"blocks.{i}.position" for i in range(config.layers)]
    for part in parts if config.position_at == "blocks" else ["position"]:
        _start_positions(config, params, part)


def _near_identity(rng: np.random.Generator, size: int, noise: float, identity: float) -> np.ndarray:
    """noise * Z + identity * I, (size, size), with Z normal of variance 1 / size."""
    return rng.normal(0, noise / np.sqrt(size), (size, size)) + identity * np.eye(size)


def _factors(product: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """The two matrices, (D, rank) and (rank, D), whose product comes nearest to the given one, (D, D)."""
    U, S, Vt = np.linalg.svd(product)
    U, root, Vt = U[:, :rank], np.sqrt(S[:rank]), Vt[:rank]
    sign = signs(U)  # U and V can only change it together
    return U * (sign * root), (sign * root)[:, None] * Vt  #                                     eq. 3


def _start_positions(config: ViTConfig, params: Params, part: str) -> None:
    """Fill a table of learned positions, if it is one of vectors for tokens, with sines and cosines."""
    D, (rows, columns) = config.width, config.grid
    if config.position == "1d":
        params[part][config.position_rows :] = ops.positions_sincos(config.grid, D)
    elif config.position == "2d":  # half of the numbers are for the row, and half for the column
        params[f"{part}.rows"] = ops.positions_sincos((rows, 1), D)[:, D // 2 :]
        params[f"{part}.columns"] = ops.positions_sincos((1, columns), D)[:, : D // 2]


def signs(columns: np.ndarray) -> np.ndarray:
    """The sign, 1 or -1, of each column (D, n) of vectors: (n,). Of x and -x, one has 1 and the other -1.

    Libraries of linear algebra, and versions of one library, return either x or -x. Multiplied by its sign,
    the vector is the same everywhere. The sign is that of the sum of its numbers, weighted by the square
    roots of 1, 2, ..., since without weights a vector that is odd, as many filters of images are, would add
    up to almost nothing.
    """
    weights = np.sqrt(np.arange(1, len(columns) + 1))
    return np.where(weights @ columns < 0, -1.0, 1.0)
