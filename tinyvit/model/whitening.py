"""A whitened patch embedding: first values that tell patches apart from the start (Jordan 2024, below).

The pixels of a patch are nearly alike: most of the variance of patches is in their brightness, and almost
none in fine detail. Random filters, each a sum of all pixels, therefore all see the brightness first.
Whitened ones do not. With the mean m (n,) of the training images' patches and their covariance C (n, n),

    C = sum over j of l_j e_j e_j^T,       l_1 >= l_2 >= ...                                          (1)

the filters are the eigenvectors, from smooth to fine, each scaled to see as much as any other:

    w_j = s e_j / sqrt(l_j + eps)                                                                     (2)
    b_j = -m . w_j                                                                                    (3)

eps keeps what hardly varies, much of it noise, from being blown up. Filter j sees the variance
s^2 l_j / (l_j + eps), and s makes the mean of these that of LeCun normal filters, which is

    s^2 mean over j of l_j / (l_j + eps) = trace(C) / n                                               (4)

As in the source, where there are more filters than eigenvectors, the same ones follow with the other sign.
If some are still left, they keep their LeCun normal values. If there are fewer, the finest are left out.

Source: K. Jordan, "94% on CIFAR-10 in 3.29 seconds on a single GPU", arXiv 2404.00498, frozen patch-whitening
initialisation: there for the first convolution, which is then not trained. Here it is.
"""

from collections.abc import Iterable

import numpy as np

from tinyvit import ops
from tinyvit.backend import array_module
from tinyvit.model.config import ViTConfig
from tinyvit.model.initialise import signs
from tinyvit.model.params import Params
from tinyvit.support.errors import UserError

EPS = 5e-4  # as a share of the mean variance of a pixel, which is about 1 in the source
_NOTHING = 1e-10  # as a share of the mean square of a pixel: a smaller eigenvalue is rounding


def check_whitening(config: ViTConfig) -> None:
    """Raise UserError if the patches of a model of this shape are not cut from the image itself."""
    if config.has_resnet:
        raise UserError(
            "only patches that are cut from the image can be whitened, and in this model a ResNet reads it "
            "first: omit whitening, or choose a plain ViT."
        )
    if not config.patch_bias:
        raise UserError("whitening takes a bias of the patch embedding: omit whitening, or patch_bias=False.")


def whiten(config: ViTConfig, params: Params, batches: Iterable[np.ndarray]) -> None:
    """Overwrite the first values of the patch embedding, its weight and bias, with whitened ones.

    batches of normalised images, (B, H, W, channels) of the model's size, are what is to be whitened. Raises
    UserError as check_whitening does, or if the patches are all the same.
    """
    check_whitening(config)
    mean, covariance, square = _statistics(config, batches)
    values, vectors = np.linalg.eigh(covariance)
    keep = values > _NOTHING * square
    if not keep.any():
        raise UserError("the patches of the training images are all the same: whitening them is impossible.")
    values, vectors = values[keep][::-1], (signs(vectors) * vectors)[:, keep][:, ::-1]  #        eq. 1
    values, vectors = np.tile(values, 2), np.concatenate([vectors, -vectors], axis=1)
    values, vectors = values[: config.width], vectors[:, : config.width]
    variance = np.trace(covariance) / len(mean)
    padded = values + EPS * variance
    scale = np.sqrt(variance / (values / padded).mean())  #                                      eq. 4
    filters = scale * vectors / np.sqrt(padded)  #                                               eq. 2

    xp, dtype = array_module(params.flat), params.flat.dtype
    params["patch.weight"][:, : len(values)] = xp.asarray(filters, dtype=dtype)
    params["patch.bias"] = -xp.asarray(mean, dtype=dtype) @ params["patch.weight"]  #            eq. 3


def _statistics(config: ViTConfig, batches: Iterable[np.ndarray]) -> tuple[np.ndarray, np.ndarray, float]:
    """Mean (n,) and covariance (n, n) of all patches, and the mean square of a pixel; in float64."""
    n = config.patch_size**2 * config.channels
    count, total, products = 0, np.zeros(n), np.zeros((n, n))
    for images in batches:
        patches, _ = ops.patchify(images.astype(np.float64), config.patch_size)  # (B, T, n)
        patches = patches.reshape(-1, patches.shape[2])
        count += len(patches)
        total += patches.sum(axis=0)
        products += patches.T @ patches
    mean, second = total / count, products / count
    return mean, second - np.outer(mean, mean), float(np.trace(second)) / len(mean)
