"""The patch is cut into channel, row, column instead of row, column, channel."""

import importlib

solution = importlib.import_module("lessons.14_look_inside.solution")
position_similarity = solution.position_similarity
class_token_attention = solution.class_token_attention
attention_rollout = solution.attention_rollout


def embedding_filters(config, params, count=28):
    filters = solution.embedding_filters(config, params, count)
    count, P, _, C = filters.shape
    return filters.reshape(count, C, P, P).transpose(0, 2, 3, 1)
