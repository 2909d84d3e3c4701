"""The filters are taken from V^T, the directions of the embedding, and cut to the size of a patch."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.14_look_inside.solution")
position_similarity = solution.position_similarity
class_token_attention = solution.class_token_attention
attention_rollout = solution.attention_rollout


def embedding_filters(config, params, count=28):
    P, C = config.patch_size, config.channels
    _, _, Vh = np.linalg.svd(params["patch.weight"])
    filters = np.zeros((min(count, *params["patch.weight"].shape), P * P * C))
    width = min(P * P * C, Vh.shape[1])
    filters[:, :width] = Vh[: len(filters), :width]
    return filters.reshape(-1, P, P, C)
