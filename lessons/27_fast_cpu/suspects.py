"""Pairs of fold and unfold_gradients, right on some inputs only. A good check distrusts all but the first."""

import numpy as np


def fold(gain, offset, weight, bias):
    """Right, written in another way."""
    return np.diag(gain) @ weight, (offset[:, None] * weight).sum(axis=0) + bias


def unfold(dfolded_weight, dfolded_bias, gain, offset, weight):
    """Right, written in another way."""
    dgain = np.einsum("io,io->i", weight, dfolded_weight)
    dweight = np.diag(gain) @ dfolded_weight + offset[:, None] * dfolded_bias
    return dgain, (weight * dfolded_bias).sum(axis=1), dweight, +dfolded_bias


# The wrong ones, each with what is wrong about it


def scaled_offset(gain, offset, weight, bias):
    """The offset is multiplied by the gain too."""
    return gain[:, None] * weight, (gain * offset) @ weight + bias


def unfold_scaled_offset(dfolded_weight, dfolded_bias, gain, offset, weight):
    """And these are the gradients of that, so that nothing but the values is wrong."""
    through = weight @ dfolded_bias
    dgain = (weight * dfolded_weight).sum(axis=1) + offset * through
    dweight = gain[:, None] * (dfolded_weight + np.outer(offset, dfolded_bias))
    return dgain, gain * through, dweight, dfolded_bias.copy()


def no_bias(gain, offset, weight, bias):
    """The bias is forgotten."""
    return gain[:, None] * weight, offset @ weight


def unfold_no_bias(dfolded_weight, dfolded_bias, gain, offset, weight):
    """And it has no influence, so its gradient is 0: again, nothing but the values is wrong."""
    return *unfold(dfolded_weight, dfolded_bias, gain, offset, weight)[:3], np.zeros_like(dfolded_bias)


def fold_in_place(gain, offset, weight, bias):
    """The folded matrix is written over the weight."""
    folded = offset @ weight + bias
    weight *= gain[:, None]
    return weight, folded


def unfold_from_folded(dfolded_weight, dfolded_bias, gain, offset, weight):
    """What fold_in_place left in weight is unfolded correctly, so the gradients are right."""
    return unfold(dfolded_weight, dfolded_bias, gain, offset, weight / gain[:, None])


def unit_gain(dfolded_weight, dfolded_bias, gain, offset, weight):
    """The gradient of the gain is taken with the folded matrix."""
    _, doffset, dweight, dbias = unfold(dfolded_weight, dfolded_bias, gain, offset, weight)
    return (gain[:, None] * weight * dfolded_weight).sum(axis=1), doffset, dweight, dbias


def no_offset(dfolded_weight, dfolded_bias, gain, offset, weight):
    """The way of the weight through c' is forgotten."""
    dgain, doffset, _, dbias = unfold(dfolded_weight, dfolded_bias, gain, offset, weight)
    return dgain, doffset, gain[:, None] * dfolded_weight, dbias


def one_output(dfolded_weight, dfolded_bias, gain, offset, weight):
    """The offset's gradient is a mean over the outputs."""
    dgain, doffset, dweight, dbias = unfold(dfolded_weight, dfolded_bias, gain, offset, weight)
    return dgain, doffset / weight.shape[1], dweight, dbias


def mean_bias(dfolded_weight, dfolded_bias, gain, offset, weight):
    """The bias's gradient is the mean over the outputs."""
    *others, dbias = unfold(dfolded_weight, dfolded_bias, gain, offset, weight)
    return *others, np.full_like(dbias, dbias.mean())


def gain_across(gain, offset, weight, bias):
    """The gain multiplies columns where rows are meant, whenever the shapes allow it."""
    D, O = weight.shape
    return (gain if D == O else gain[:, None]) * weight, offset @ weight + bias


def unfold_gain_across(dfolded_weight, dfolded_bias, gain, offset, weight):
    """And these are the gradients of that."""
    dgain, doffset, dweight, dbias = unfold(dfolded_weight, dfolded_bias, gain, offset, weight)
    if len(weight) == weight.shape[1]:
        dgain = (weight * dfolded_weight).sum(axis=0)
        dweight = gain * dfolded_weight + np.outer(offset, dfolded_bias)
    return dgain, doffset, dweight, dbias


def unfold_in_place(dfolded_weight, dfolded_bias, gain, offset, weight):
    """The weight's gradient is written over that of the folded matrix."""
    results = unfold(dfolded_weight, dfolded_bias, gain, offset, weight)
    dfolded_weight[...] = results[2]
    return results


RIGHT = (fold, unfold)
WRONG = {
    "scaled_offset": (scaled_offset, unfold_scaled_offset),
    "no_bias": (no_bias, unfold_no_bias),
    "fold_in_place": (fold_in_place, unfold_from_folded),
    "gain_across": (gain_across, unfold_gain_across),
} | {
    wrong.__name__: (fold, wrong) for wrong in (unit_gain, no_offset, one_output, mean_bias, unfold_in_place)
}
