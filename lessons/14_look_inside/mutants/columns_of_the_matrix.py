"""The columns of the matrix itself are shown, not its principal directions."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.14_look_inside.solution")
position_similarity = solution.position_similarity
class_token_attention = solution.class_token_attention
attention_rollout = solution.attention_rollout


def embedding_filters(config, params, count=28):
    E, P = params["patch.weight"], config.patch_size
    filters = E.T / np.maximum(np.linalg.norm(E, axis=0), 1e-12)[:, None]
    filters = filters[: min(count, *E.shape)]
    return filters.reshape(-1, P, P, config.channels)
