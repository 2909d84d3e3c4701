"""The rows are divided by the squares of their lengths: a root is missing."""

import importlib

solution = importlib.import_module("lessons.14_look_inside.solution")
embedding_filters = solution.embedding_filters
class_token_attention = solution.class_token_attention
attention_rollout = solution.attention_rollout


def position_similarity(config, params):
    e = params["position"][config.has_token :]
    e = e / (e * e).sum(axis=1, keepdims=True)
    return (e @ e.T).reshape(*config.grid, *config.grid)
