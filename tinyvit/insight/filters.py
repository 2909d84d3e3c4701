"""The filters of the patch embedding (ViT Figure 7, left): its principal directions, as images.

The embedding multiplies a patch x (P*P*C numbers) by a matrix E (P*P*C, D). Its singular value decomposition,
with orthonormal columns u_1, u_2, ... of U and s_1 >= s_2 >= ..., gives

    E = U diag(s) V^T                                                                      (1)
    |x E|^2 = sum over i of s_i^2 (x . u_i)^2                                              (2)

so u_1 is the pattern that changes the embedding most, u_2 the next one orthogonal to it, and so on. Each has
as many numbers as a patch, so it can be shown as an image. In a hybrid or a ResNet, whose root reads the
pixels, x is one of its windows and E its standardised kernel.
"""

import numpy as np

from tinyvit.backend import to_numpy
from tinyvit.model import Params, ViTConfig
from tinyvit.model.later.resnet import EPSILONS
from tinyvit.ops import weight_standardisation


def embedding_filters(config: ViTConfig, params: Params, count: int = 28) -> np.ndarray:
    """The first count columns of U as images (count, P, P, C), strongest first; P is 7 with a ResNet.

    There are min(P*P*C, D) columns, so fewer than count may be returned. Each has length 1. Its sign, which
    (1) does not determine, makes its largest number positive.
    """
    U, _ = _directions(config, params)
    filters = U.T[:count]  # (count, P*P*C)
    largest = np.abs(filters).argmax(axis=1)
    filters = filters * np.sign(filters[np.arange(len(filters)), largest])[:, None]
    P = 7 if config.has_resnet else config.patch_size
    return filters.reshape(-1, P, P, config.channels)


def filter_strengths(config: ViTConfig, params: Params, count: int = 28) -> np.ndarray:
    """The singular values s of the same filters: (count,), the length that a patch u_i has when embedded."""
    return _directions(config, params)[1][:count]


def _directions(config: ViTConfig, params: Params) -> tuple[np.ndarray, np.ndarray]:
    """U (P*P*C, min(P*P*C, D)) and s (min(P*P*C, D),)."""
    if config.has_resnet:
        kernel = to_numpy(params["resnet.root.conv.weight"]).astype(np.float64)  # (7, 7, C, D)
        eps = EPSILONS[config.resnet_form]
        E = weight_standardisation(kernel, eps.kernel, eps.in_root)[0].reshape(-1, kernel.shape[-1])
    else:
        E = to_numpy(params["patch.weight"]).astype(np.float64)  # (P*P*C, D)
    U, s, _ = np.linalg.svd(E, full_matrices=False)  #                                       eq. 1
    return U, s


def filter_pictures(filters: np.ndarray) -> np.ndarray:
    """Filters (count, P, P, 3) as uint8 pixels: 0 is mid-grey, each filter's largest number full colour."""
    largest = np.abs(filters).max(axis=(1, 2, 3), keepdims=True)
    return (127.5 + 127.5 * filters / np.maximum(largest, 1e-12)).round().astype(np.uint8)
