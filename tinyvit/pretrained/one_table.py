"""Positions as other libraries store them: one learned table (N, D), added at the stem."""

from dataclasses import replace

from tinyvit.model import Params, ViTConfig, layout
from tinyvit.model.positions import position_table


def with_one_table(config: ViTConfig, params: Params) -> tuple[ViTConfig, Params]:
    """The same model with position '1d' at the stem: its logits are the same.

    A model without positions gets a table of zeros. Positions in the blocks are no such table: see fitting.
    """
    if (config.position, config.position_at) == ("1d", "stem"):
        return config, params
    table, _ = position_table(config, params)
    new = replace(config, position="1d", position_at="stem")
    result = params.carried_over(layout(new), without="position")
    if table is not None:
        result["position"] = table
    return new, result
