"""All three are the library's own."""

from tinyvit.analysis.attention_map import class_token_attention
from tinyvit.analysis.filters import embedding_filters
from tinyvit.analysis.position_similarity import position_similarity

__all__ = ["class_token_attention", "embedding_filters", "position_similarity"]
