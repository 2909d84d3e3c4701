"""Attention distance, rollout and the maps of heads, computed once more by PyTorch on the same weights."""

import numpy as np
import pytest

import tinyvit
from tinyvit.data import normalise


def torch_attention(torch, model, images):
    """The attention of every block (n, layers, heads, N, N), by torch.nn's own modules, in float64."""
    nn, c = torch.nn, model.config
    weights = {name: torch.tensor(np.asarray(model.params[name], np.float64)) for name in model.params}
    x = torch.tensor(normalise(images, np.float64)).permute(0, 3, 1, 2)
    kernel = weights["patch.weight"].reshape(c.patch_size, c.patch_size, 3, c.width).permute(3, 2, 0, 1)
    x = nn.functional.conv2d(x, kernel, weights["patch.bias"], stride=c.patch_size).flatten(2).mT
    if c.has_token:
        x = torch.cat([weights["class_token"].reshape(1, 1, -1).expand(len(x), 1, -1), x], dim=1)
    x, maps = x + weights["position"], []
    for i in range(c.layers):
        start = f"blocks.{i}."
        w = {name[len(start) :]: value for name, value in weights.items() if name.startswith(start)}
        attend = nn.MultiheadAttention(c.width, c.heads, batch_first=True, dtype=torch.float64)
        with torch.no_grad():
            attend.in_proj_weight.copy_(w["attn.qkv.weight"].T)
            attend.in_proj_bias.copy_(w["attn.qkv.bias"])
            attend.out_proj.weight.copy_(w["attn.out.weight"].T)
            attend.out_proj.bias.copy_(w["attn.out.bias"])
            n = nn.functional.layer_norm(x, (c.width,), w["norm1.weight"], w["norm1.bias"], c.eps)
            y, A = attend(n, n, n, need_weights=True, average_attn_weights=False)
            x = x + y
            n = nn.functional.layer_norm(x, (c.width,), w["norm2.weight"], w["norm2.bias"], c.eps)
            hidden = nn.functional.gelu(n @ w["mlp.fc1.weight"] + w["mlp.fc1.bias"], approximate="tanh")
            x = x + hidden @ w["mlp.fc2.weight"] + w["mlp.fc2.bias"]
        maps.append(A)
    return torch.stack(maps, dim=1)


@pytest.mark.parametrize("pool", ["token", "mean"])
def test_pytorch_finds_the_same(pool):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    model = tinyvit.preset("nano/4", (16, 24), 3, pool=pool)
    rng = np.random.default_rng(0)
    model.params.flat[:] = rng.normal(0, 0.3, model.params.flat.shape)
    images = rng.integers(0, 256, (3, 16, 24, 3), dtype=np.uint8)
    A = torch_attention(torch, model, images)  # (n, layers, heads, N, N)
    gh, gw = model.config.grid
    t = int(pool == "token")

    patches = A[..., t:, t:] / A[..., t:, t:].sum(-1, keepdim=True)
    at = torch.cartesian_prod(torch.arange(gh), torch.arange(gw)).double() * 4
    distance = (patches * torch.cdist(at, at)).sum(-1).mean(-1)
    np.testing.assert_allclose(model.attention_distance(images), distance, rtol=1e-4)

    mixed = A.mean(2) + torch.eye(A.shape[-1], dtype=A.dtype)
    mixed = mixed / mixed.sum(-1, keepdim=True)
    whole = mixed[:, -1]
    for layer in reversed(range(model.config.layers - 1)):
        whole = torch.bmm(whole, mixed[:, layer])
    row = whole[:, 0, 1:] if t else whole.mean(1)
    expected = (row / row.sum(-1, keepdim=True)).reshape(-1, gh, gw)
    np.testing.assert_allclose(model.rollout(images), expected, rtol=1e-4)

    row = A[..., 0, 1:] if t else A.mean(-2)
    expected = (row / row.sum(-1, keepdim=True)).reshape(*A.shape[:3], gh, gw)
    np.testing.assert_allclose(model.head_maps(images), expected, rtol=1e-3, atol=1e-6)
