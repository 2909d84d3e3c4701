"""The identity is added to the attention, but the sum is not halved."""

import importlib

solution = importlib.import_module("lessons.14_look_inside.solution")
embedding_filters = solution.embedding_filters
position_similarity = solution.position_similarity
class_token_attention = solution.class_token_attention


def attention_rollout(attention):
    return solution.attention_rollout(attention) * 2.0 ** attention.shape[1]
