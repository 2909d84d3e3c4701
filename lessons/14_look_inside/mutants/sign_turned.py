"""The sign of each filter is turned the wrong way: its largest number is negative."""

import importlib

solution = importlib.import_module("lessons.14_look_inside.solution")
position_similarity = solution.position_similarity
class_token_attention = solution.class_token_attention
attention_rollout = solution.attention_rollout


def embedding_filters(config, params, count=28):
    return -solution.embedding_filters(config, params, count)
