"""A model of a GPU's speed: what a step costs on a card, computed from its bytes and its multiply-adds."""
