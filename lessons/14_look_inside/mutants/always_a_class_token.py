"""A row of the position table is left out even if there is no class token."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.14_look_inside.solution")
embedding_filters = solution.embedding_filters
class_token_attention = solution.class_token_attention
attention_rollout = solution.attention_rollout


def position_similarity(config, params):
    if config.has_token:
        return solution.position_similarity(config, params)
    e = np.roll(params["position"], -1, axis=0)
    e = e / np.linalg.norm(e, axis=1, keepdims=True)
    return (e @ e.T).reshape(*config.grid, *config.grid)
