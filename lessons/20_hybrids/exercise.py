"""Lesson 20: hybrids. Fill in the functions, then run: pytest lessons/20_hybrids"""

import numpy as np  # noqa: F401 - you will want it

from tinyvit.checking import check_gradients  # noqa: F401 - the tool of lesson 2, for trust_group_norm
from tinyvit.model.resnet import convolved_backward  # noqa: F401 - for unit_backward
from tinyvit.ops import relu_backward  # noqa: F401 - for unit_backward


def group_norm_backward(dy, cache):
    """dx (B, H, W, C), dweight (C,), dbias (C,) from dy (B, H, W, C).

    The forward is tinyvit.ops.group_norm, and its cache is n, r, weight, groups: with S = H W positions,
    n (B, S, C) has the normalised numbers, r (B, 1, C) the factor of each channel's group, weight is (C,).
    """
    raise NotImplementedError("write group_norm_backward: lesson 7, where a row is a group of channels")


def weight_standardisation(w, eps=1e-5):
    """A kernel w (k, k, I, O) with mean 0 and standard deviation 1 in each of its O output channels.

    Return y (k, k, I, O) and a cache.
    """
    raise NotImplementedError("write weight_standardisation: equations 1 and 2")


def weight_standardisation_backward(dy, cache):
    """dw (k, k, I, O) from dy (k, k, I, O)."""
    raise NotImplementedError("write weight_standardisation_backward: three paths, as in lesson 7")


def unit_backward(i, j, dy, cache, grads):
    """The gradient of unit j of stage i: dx (B, H, W, C) from dy (B, h, w, 4 F).

    cache has an entry for each step: conv1, relu1, conv2, relu2, conv3, relu3, and proj, which is None if the
    skip connection is x itself. A step back is relu_backward(dy, cache.relu1), or

        convolved_backward(f"resnet.{i}.{j}", "1", dy, cache.conv1, grads)

    with "1", "2", "3" or "_proj", which also adds the gradients of the parameters to grads. Both return dx.
    """
    raise NotImplementedError("write unit_backward: equations 5, 4 and 3 from the back, and both ways")


def trust_group_norm(forward, backward):
    """Whether backward(dy, cache) returns the right dx, dweight, dbias: True or False, from gradient checks.

    forward(x, weight, bias, groups=32, eps=1e-6) is right and returns (y, cache); only the backward may be
    wrong.
    """
    raise NotImplementedError("write trust_group_norm: which sizes make a wrong backward look right?")


# The puzzle: how far does a ResNet see?


def pixels_seen(resnet):
    """The side of the square of pixels that the windows behind one position of the feature map cover.

    resnet is a tuple like that of ViTConfig: the number of units in each stage; () is a root alone. The image
    is large enough for all the windows.
    """
    raise NotImplementedError("write pixels_seen: through the pool and the convolutions, back to the image")
