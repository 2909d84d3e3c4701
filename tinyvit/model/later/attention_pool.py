"""Attention pooling, as in SigLIP (Zhai et al. 2023): a learned query attends to all tokens.

See ops.attention_pool. An MLP with a skip connection follows, as in a block:

    o = attention_pool(x)           y = o + MLP(LayerNorm(o))                              (1)
"""

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model import distributions
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step, before, instead
from tinyvit.model.layout import ParamSpec, linear_specs, norm_specs
from tinyvit.model.params import Params
from tinyvit.model.stage import Stage
from tinyvit.support.errors import UserError


def attention_pool_stage(config: ViTConfig) -> Stage:
    """Attention pooling of the patches, or of all tokens, and the MLP after it: (B, N, D) to (B, D)."""
    pooled = slice(0 if config.pool_all else config.prefix, None)
    heads = config.pool_heads or config.heads

    def forward(params: Params, x: Array) -> tuple[Array, tuple]:
        o, attended = ops.attention_pool(x[:, pooled], *params.group("pool.attn"), heads)
        n, norm = ops.layer_norm(o, *params.group("pool.norm"), config.eps)
        m, mlp = ops.mlp(n, *params.group("pool.mlp"), config.gelu)
        return o + m, (attended, norm, mlp, x.shape)  #                                      eq. 1

    def backward(dy: Array, cache: tuple, grads: Params) -> Array:
        attended, norm, mlp, shape = cache
        dn, *dmlp = ops.mlp_backward(dy, mlp)
        do, *dnorm = ops.layer_norm_backward(dn, norm)
        dpooled, *dattention = ops.attention_pool_backward(do + dy, attended)
        for name, gradients in (("mlp", dmlp), ("norm", dnorm), ("attn", dattention)):
            grads.add(f"pool.{name}", *gradients)
        dx = array_module(dy).zeros(shape, dtype=dy.dtype)
        dx[:, pooled] = dpooled
        return dx

    return Stage("pool", forward, backward)


def _readout(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    return instead(stages, "pool", attention_pool_stage(config))


def _specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    D, M, init = config.width, config.pool_mlp_width or config.mlp_width, distributions.xavier_uniform
    return before(
        specs,
        "pre_logits.weight" if config.pre_logits else "head.weight",
        ParamSpec("pool.attn.probe", (1, D), distributions.small_normal),
        *linear_specs("pool.attn.q", D, D, init),
        *linear_specs("pool.attn.kv", D, 2 * D, init),
        *linear_specs("pool.attn.out", D, D, init),
        *norm_specs("pool.norm", D),
        *linear_specs("pool.mlp.fc1", D, M, init),
        *linear_specs("pool.mlp.fc2", M, D, init),
    )


def _multiply_adds(config: ViTConfig) -> int:
    D, M = config.width, config.pool_mlp_width or config.mlp_width
    N = config.tokens_of(config.layers - 1) - (0 if config.pool_all else config.prefix)
    return 2 * N * D * (D + 1) + 2 * D * D + 2 * D * M


_ITS_OWN = "pool_heads", "pool_mlp_width", "pool_all"


def _check(config: ViTConfig) -> None:
    for name in _ITS_OWN if config.pool != "attention" else ():
        if getattr(config, name):
            raise UserError(f"{name} is for pool 'attention', not {config.pool!r}: omit it.")
    if config.width % (config.pool_heads or 1):
        raise UserError(f"width {config.width} is not divisible by {config.pool_heads} heads of its pool.")


PART = Part(
    {"pool": "token", "pool_heads": 0, "pool_mlp_width": 0, "pool_all": False},
    {"readout": _readout},
    {"readout": _specs},
    _multiply_adds,
    _check,
    when=lambda config: config.pool == "attention" or any(getattr(config, name) for name in _ITS_OWN),
    known_to={"pool_heads": "cpu onnx", "pool_mlp_width": "cpu onnx", "pool_all": "cpu onnx timm"},
)
